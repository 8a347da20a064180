/** Adds the styles of a part, which come after those of the page. The policy of the page allows no further elements with styles. */
export function adoptStyles(css: string): void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  document.adoptedStyleSheets.push(sheet);
}
