/** Replaces `{{name}}` by the variable of that name. Unknown names stay, because a text may mean them literally. */
export const fillTemplate = (text: string, variables: ReadonlyMap<string, string>): string =>
  text.replaceAll(/\{\{\s*(\w+)\s*\}\}/g, (whole, name: string) => variables.get(name) ?? whole);
