// The theme puts a landmark around each button that copies code; one page has dozens of the same name.
new MutationObserver(() => {
  for (const each of document.querySelectorAll("nav.md-code__nav:not([role])")) each.setAttribute("role", "presentation");
  // A table that is wider than the page is scrolled with the keyboard, too.
  for (const each of document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])")) each.tabIndex = 0;
}).observe(document.body, { childList: true, subtree: true });
