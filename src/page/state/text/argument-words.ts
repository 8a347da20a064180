/** The arguments in a line: separated by spaces; quotes keep spaces together. An open quote ends with the line. */
export const toArgumentWords = (line: string): string[] =>
  [...line.matchAll(/(?:"[^"]*(?:"|$)|'[^']*(?:'|$)|[^\s"']+)+/g)].map(([word]) =>
    word.replace(/"([^"]*)(?:"|$)|'([^']*)(?:'|$)/g, (_, double = '', single = '') => double + single),
  );

/** The line that has these arguments. */
export const toArgumentsText = (words: readonly string[]): string =>
  words.map((word) => (word !== '' && !/[\s"']/.test(word) ? word : quoted(word))).join(' ');

/** Single quotes, except around single quotes. */
const quoted = (word: string): string =>
  word.includes("'")
    ? word
        .split(/('+)/)
        .filter((part) => part !== '')
        .map((part) => (part.startsWith("'") ? `"${part}"` : `'${part}'`))
        .join('')
    : `'${word}'`;
