// Empty: a file like this one lets flush.go declare functions whose bodies stand elsewhere.
