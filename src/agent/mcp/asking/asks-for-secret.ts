const SECRETS = [
  /pass(?:word|phrase|code|wd)s?\b/,
  /\b(?:secret|credential|pin code|cvv|cvc|ssn|otp)s?\b/,
  /\b(?:api|access|private|secret|signing|encryption|ssh|recovery|seed) ?(?:key|token|phrase)s?\b/,
  /\b(?:bearer|auth|authentication|refresh|session) ?tokens?\b/,
  /\b(?:credit|debit) ?card\b/,
  /\bsocial security\b/,
];

/** Whether a text seems to ask for something that only its owner may know. `apiKey`, `api_key` and `API key` are the same. */
export function asksForSecret(text: string): boolean {
  const words = text
    .normalize('NFKC')
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ');
  return SECRETS.some((secret) => secret.test(words));
}
