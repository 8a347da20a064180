/** The text of a style sheet, which a part of the page adopts when it is loaded. */
declare module '*.css?inline' {
  const css: string;
  // biome-ignore lint/style/noDefaultExport: that is how vite exports it.
  export default css;
}
