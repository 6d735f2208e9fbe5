// The theme puts a landmark around each button that copies code; one page has dozens of the same name.
new MutationObserver(() => {
  for (const each of document.querySelectorAll("nav.md-code__nav:not([role])")) each.setAttribute("role", "presentation");
}).observe(document.body, { childList: true, subtree: true });
