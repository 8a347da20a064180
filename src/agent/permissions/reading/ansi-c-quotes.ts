/**
 * Whether the parser's value of `$'…'` is what bash makes of it. Bash ends `\x{` at its brace, applies `\c` to a byte,
 * keeps a backslash before the end of a line, and writes `\u` and bytes as the locale has them.
 */
export const isCertainValue = ({ text, value }: { text: string; value: string }): boolean =>
  !/\\(x\{|c[^ -~]|\n|u0*([89a-f][\da-f]|[1-9a-f][\da-f]{2}))/i.test(text) && !value.includes('\ufffd');
