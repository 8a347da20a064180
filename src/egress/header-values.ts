/** What HTTP allows in the value of a header. Spaces and line ends around it are taken away before it is sent. */
const SENDABLE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Says which value cannot be sent, such as a token of two lines. The platform's error would repeat it, and it may be a secret. */
export function unsendableIn(headers: Readonly<Record<string, string>>): string | undefined {
  const found = Object.entries(headers).find(([, value]) => !SENDABLE.test(value.trim()));
  return found && `the value of the header ${found[0]} has characters that cannot be sent, such as a line end`;
}

/** Throws for such a value. Headers in an object of the platform were checked when it was made. */
export function requireSendable(headers: HeadersInit | undefined): void {
  if (headers === undefined || Symbol.iterator in headers) return;
  const problem = unsendableIn(headers);
  if (problem !== undefined) throw new TypeError(problem);
}
