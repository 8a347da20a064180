/**
 * What looks like a key, a token or a password, in texts that are shown outside their conversation. Errs on the side of
 * hiding: prefixes of well-known keys, JSON web tokens, private keys, values after words such as `password`, and long
 * strings of letters and digits.
 */
const SECRETS: readonly RegExp[] = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /\b(?:sk|pk|rk|ghp|gho|ghu|ghs|ghr|github_pat|glpat|xox[a-z]|svc|npm|hf|AIza|ya29|AKIA|ASIA)[-_.]?[A-Za-z0-9_./+-]{12,}/g,
  /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_.-]+/g,
  /(?<=:\/\/[^\s/:@]{0,64}:)[^\s/@]+(?=@)/g,
  /(?<=\b(?:password|passwd|passphrase|secret|token|api[ _-]?key|authorization)\b["']?(?:\s{0,4}[:=]|\s{1,4}is\b)\s{0,4}["']?)[^\s"',;]{6,}/gi,
  /(?<=\bbearer\s{1,4})(?=\S*\d)[^\s"',;]{12,}/gi,
  // Only at the beginning of a string: trying every character of a long one would take quadratic time.
  /(?<![A-Za-z0-9+/_-])(?=[A-Za-z0-9+/_-]*\d)(?=[A-Za-z0-9+/_-]*[A-Za-z])[A-Za-z0-9+/_-]{32,}={0,2}/g,
];

/** The text with `***` in place of everything that looks like a secret. */
export const withoutSecrets = (text: string): string =>
  SECRETS.reduce((left, pattern) => left.replace(pattern, '***'), text);
