/** Keys whose values are secrets. */
export const SECRET_KEY = /api[-_. ]?key|secret|token|authorization|cookie|pass[-_. ]?(?:word|wd|phrase)|credential/i;

/** URL parameters that hold a credential. */
const SECRET_PARAMETER = new RegExp(`${SECRET_KEY.source}|key$|^sig$|signature|pass$|pwd|auth$|jwt|hmac|^code$`, 'i');

/** Whether the text behind a key is a secret. A key that ends in Env names the variable that holds one. */
export const isSecretKey = (key: string): boolean => SECRET_KEY.test(key) && !/env$/i.test(key);

/** Whether a parameter of an address holds a credential. */
export const isSecretParameter = (name: string): boolean => SECRET_PARAMETER.test(name);

/** For an address that does not parse, for example because of its port: the part before the path, and the query. */
const ADDRESS = /^\s*[a-z][a-z0-9+.-]*:\/\/([^/?#]*)[^?#]*\??([^#]*)/i;

/** Whether an address contains a user, a password or a secret parameter. */
export function isSecretAddress(text: string): boolean {
  if (URL.canParse(text)) {
    const { username, password, searchParams } = new URL(text);
    return username !== '' || password !== '' || hasSecret(searchParams);
  }
  const [, authority = '', query = ''] = ADDRESS.exec(text) ?? [];
  return authority.includes('@') || hasSecret(new URLSearchParams(query));
}

const hasSecret = (parameters: URLSearchParams): boolean =>
  [...parameters].some(([name, value]) => value !== '' && isSecretParameter(name));
