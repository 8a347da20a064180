import JSON5 from 'json5';
import { hideInArgument } from '../../agent/guard/values/hidden-values.ts';
import { isSecretAddress, isSecretKey, SECRET_KEY } from '../../secret-key.ts';
import { isComment, type Literal, literalsOf, pathOf, stepsTo, TOKENS } from './json5-literals.ts';

const MASK = /^<secret:([\s\S]*)>$/;

const maskOf = (path: string): string => `<secret:${path}>`;

/** Replaces each secret with a mask that names its place. If the text is not JSON5, the masks name no place. */
export function maskText(text: string): string {
  if (!isJson5(text)) return maskByLooks(maskBlocks(text), ANYWHERE);
  const secrets = new Map([...literalsOf(text)].filter(([, literal]) => isSecretLiteral(literal)));
  const masks = new Map([...secrets.values()].map((secret) => [secret.text, maskOf(pathOf(secret.place))]));
  return text.replace(TOKENS, (token, at: number) => {
    if (isComment(token)) return maskByLooks(withoutSecrets(token, masks), QUOTED);
    const secret = secrets.get(at);
    return secret === undefined ? token : JSON.stringify(maskOf(pathOf(secret.place)));
  });
}

/** Replaces each secret in a value with a mask. `before`: what precedes the value in its list. */
export function maskValue(value: unknown, path: readonly string[] = [], before?: unknown): unknown {
  if (isSecret(path, value, before)) return maskOf(path.join('.'));
  if (Array.isArray(value))
    return value.map((item, index) => maskValue(item, [...path, String(index)], value[index - 1]));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, maskValue(inner, [...path, key])]));
}

/**
 * Replaces the masks in a JSON5 text with the secrets of `current`. Throws an error that names the mask if there is no such
 * secret, or if the secret would be shown in the place of its mask.
 */
export function unmaskText(text: string, current: unknown): string {
  const secrets = new Map([...secretsOf(current)].map(([path, secret]) => [path, secret]));
  const literals = literalsOf(text);
  return text.replace(TOKENS, (token, at: number) => {
    const literal = literals.get(at);
    const path = literal && MASK.exec(literal.text)?.[1];
    if (literal === undefined || path === undefined) return token;
    const secret = secrets.get(path);
    if (secret === undefined)
      throw new Error(`${maskOf(path)} does not match a secret in the file; write the secret itself`);
    requireHidden(literal, { path, secret });
    return JSON.stringify(secret);
  });
}

function isJson5(text: string): boolean {
  try {
    JSON5.parse(text);
    return true;
  } catch {
    return false; // reading the config reports why
  }
}

const BLOCK = /["']?\b(?:env|headers|ntfy)\b["']?\s*:\s*\{/g;
const VALUE = /(:\s*)("(?:\\[\s\S]|[^"\\\n])*"?|'(?:\\[\s\S]|[^'\\\n])*'?|[^\s,{}"'][^\n,}]*)/g;

/** Masks all variables, headers and topics of a text that is not JSON5, because its structure is not known. */
function maskBlocks(text: string): string {
  let masked = '';
  let from = 0;
  for (const { index, 0: start } of text.matchAll(BLOCK)) {
    const begin = index + start.length;
    if (begin < from) continue; // in the block before, which has no end
    const end = endOfBlock(text, begin);
    masked += text.slice(from, begin) + text.slice(begin, end).replace(VALUE, (_, sign) => `${sign}"${maskOf('')}"`);
    from = end;
  }
  return masked + text.slice(from);
}

/** Where its braces are balanced; those of `${NAME}` are, too. */
function endOfBlock(text: string, begin: number): number {
  let depth = 1;
  for (let at = begin; at < text.length; at += 1) {
    if (text[at] === '{') depth += 1;
    if (text[at] === '}') depth -= 1;
    if (depth === 0) return at;
  }
  return text.length;
}

const QUOTED = behindName(/"(?:\\[\s\S]|[^"\\\n])*"|'(?:\\[\s\S]|[^'\\\n])*'/);
/** Also matches values without quotation marks, up to the end of the line, because missing marks may be the error. */
const ANYWHERE = behindName(/"(?:\\[\s\S]|[^"\\\n])*"?|'(?:\\[\s\S]|[^'\\\n])*'?|[^\s,{}[\]"'][^\n,}\]]*/);
const NO_TEXT = /^(?:null|true|false|[-+.\d]+)\s*(?:\/[/*].*)?$/;

/** A value after the name of a secret, or an address. Names have a maximum length, so that matching stays fast. */
function behindName({ source: value }: RegExp): RegExp {
  const name = `((?:${SECRET_KEY.source})[\\w$-]{0,64})`;
  const address = '[a-z][a-z0-9+.-]{0,20}:\\/\\/[^\\s"\'<>]+';
  const sign = `["']?(?:\\s*[:=]\\s*|[ \\t]+)|["']\\s*,\\s*(?=["'])`; // or the next word of a list
  return new RegExp(`${name}(${sign})(${value})|${address}`, 'gi');
}

function maskByLooks(text: string, looks: RegExp): string {
  return text.replace(looks, (all: string, name: string | undefined, sign: string) => {
    if (name === undefined) return isSecretAddress(all) ? maskOf('') : all;
    const isShown = !isSecretKey(name) || NO_TEXT.test(all.slice(name.length + sign.length));
    return isShown ? all : `${name}${sign}"${maskOf('')}"`;
  });
}

/** Replaces the longest secret first: one secret may be the beginning of another. */
function withoutSecrets(comment: string, masks: ReadonlyMap<string, string>): string {
  let text = comment;
  const longestFirst = [...masks].sort(([a], [b]) => b.length - a.length);
  for (const [secret, mask] of longestFirst) text = text.replaceAll(secret, () => mask);
  return text;
}

const isSecretLiteral = ({ kind, text, place, before }: Literal): boolean =>
  kind === 'value' && isSecret(stepsOf(place), text, before);

const isSecret = (path: readonly string[], value: unknown, before: unknown): value is string =>
  typeof value === 'string' &&
  value !== '' &&
  (isSecretPlace(path) ||
    isSecretAddress(value) ||
    (isArgument(path) && hideInArgument(value, textOf(before)).shown !== value) ||
    (isCommand(path) && secretsInCommand(value, textOf(before)).length > 0));

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** Of a tool server, such as `--api-key=…`. */
export const isArgument = ([section, servers, , values]: readonly string[]): boolean =>
  section === 'mcp' && servers === 'servers' && values === 'args';

/** A command line, or a word of one. */
export const isCommand = ([section, ...steps]: readonly string[]): boolean =>
  section === 'channels'
    ? steps[0] === 'transcribe'
    : (section === 'hooks' || (section === 'tools' && steps[0] === 'diagnostics')) && steps.at(-1) === 'command';

/**
 * Such as in `--api-key=…`, `--token …` or a header for curl. What the shell puts in, such as `$TOKEN`, is none. If the text
 * is a word of a list, `previous` is the word before it.
 */
export function secretsInCommand(command: string, previous?: string): string[] {
  const words = command.split(/[\s"']+/);
  const whole = previous === undefined ? [] : hideInArgument(command, previous).secrets;
  const found = words.flatMap((word, at) => {
    const before = words[at - 1] ?? '';
    return SCHEME.test(before) ? [word] : hideInArgument(word, before).secrets;
  });
  return [...whole, ...found].filter((secret) => secret !== '' && !secret.startsWith('$'));
}

/** Of a header `Authorization`. */
const SCHEME = /^(?:bearer|basic)$/i;

/** All variables and headers of tool servers count, because their names say little: PGPASS, X-Auth, DSN. */
const isSecretPlace = (path: readonly string[]): boolean =>
  isSecretKey(path.at(-1) ?? '') || isOfToolServer(path) || isTopic(path);

/** Whoever knows a topic of ntfy reads what is sent to it. */
const isTopic = ([section, service, name, key, ...more]: readonly string[]): boolean =>
  section === 'channels' && service === 'ntfy' && name !== undefined && key === 'url' && more.length === 0;

const isOfToolServer = ([section, servers, , values, ...name]: readonly string[]): boolean =>
  section === 'mcp' && servers === 'servers' && (values === 'env' || values === 'headers') && name.length > 0;

const stepsOf = (place: Literal['place']): string[] => stepsTo(place).map(({ key }) => key);

type Secret = [path: string, secret: string, before: string | undefined];

/** The secrets in a value, with their paths and what precedes them in their lists. */
export function* secretsOf(value: unknown, path: readonly string[] = [], before?: unknown): Generator<Secret> {
  if (isSecret(path, value, before)) yield [path.join('.'), value, textOf(before)];
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value))
    yield* secretsOf(inner, [...path, key], Array.isArray(value) ? value[Number(key) - 1] : undefined);
}

/** After the key of a secret, it is masked again. An address is masked everywhere, but belongs only after its own key. */
function requireHidden({ kind, place, before }: Literal, { path, secret }: { path: string; secret: string }): void {
  const refuse = (at: string, problem: string) => new Error(`${at || 'the file'}: ${maskOf(path)} ${problem}`);
  if (kind === 'key')
    throw refuse(pathOf(place.above), 'is used as a key; a mask is valid only as the value of a secret');
  if (stepsTo(place).some(({ isReplaced }) => isReplaced))
    throw refuse(pathOf(place), 'has no effect, because its key is repeated later; write the key once');
  const isOwnKey = isSecret(stepsOf(place), secret, before) && `.${path}`.endsWith(`.${place.key}`);
  if (isSecretPlace(stepsOf(place)) || isOwnKey) return;
  throw refuse(pathOf(place), 'would reveal the secret here; a mask is valid only as the value of a secret');
}
