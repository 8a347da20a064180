import { isSecretAddress, isSecretKey, isSecretParameter } from '../../../secret-key.ts';
import { KnownSecrets } from '../known-secrets.ts';
import { Redactor } from '../redactor.ts';
import { isRandom } from '../secret-values.ts';

/** Stands for a hidden value, as the specification of the HTTP interface has it. */
export const MASK = '***';

/** A text as people see it, and the secrets in it. */
export interface HiddenText {
  shown: string;
  secrets: string[];
}

const NONE = new KnownSecrets([]);
const TAG = /\[REDACTED:\w+\]/g;
const FLAG = /^--?([\w.-]+)$/;
const NAMED = /^((?:--?)?([\w.-]+)(?:=|:\s*))([^/\s][\s\S]*)$/;
/** Shorter random texts are ids and versions. */
const LEAST_RANDOM = 20;

/** Whether a variable or header holds a secret, by its name or its value. Errs on the side of harmless settings. */
export function looksSecret(name: string, value: string): boolean {
  if (value === '') return false;
  if (isSecretKey(name) || isSecretAddress(value)) return true;
  const pair = `${name}=${value}`;
  return isRandomText(value) || redact(pair) !== pair;
}

/** An argument of a program, after the argument `before`. */
export function hideInArgument(argument: string, before: string | undefined): HiddenText {
  const [, flag = ''] = FLAG.exec(before ?? '') ?? [];
  if (isSecretKey(flag) && !argument.startsWith('-') && argument !== '') return hidden(MASK, argument);
  const [, start = '', name = '', value = ''] = NAMED.exec(argument) ?? [];
  if (value !== '' && isSecretKey(name)) return hidden(start + MASK, value);
  if (isRandomText(argument)) return hidden(MASK, argument);
  const address = hideInAddress(argument);
  const shown = redact(address.shown).replaceAll(TAG, MASK);
  return { shown, secrets: shown === address.shown ? address.secrets : [...address.secrets, argument] };
}

/** A shorter name before `@` is nobody's secret, and occurs in ordinary text. */
const LEAST_LONE_USER = 8;

/** The passwords, lone names of users (such as tokens) and secret parameters of the addresses in a text. */
export function hideInAddress(text: string): HiddenText {
  const secrets: string[] = [];
  const hide = (start: string, value: string) => {
    secrets.push(value, ...decoded(value));
    return start + MASK;
  };
  const shown = text
    .replace(/(:\/\/[^\s/:@?#]*:)([^\s/@?#]+)(?=@)/g, (_, start: string, value: string) => hide(start, value))
    .replace(/(https?:\/\/)([^\s/:@?#]+)(?=@)/gi, (all, start: string, value: string) =>
      value.length < LEAST_LONE_USER ? all : hide(start, value),
    )
    .replace(/([?&][^=&#?\s]+=)([^&#\s]+)/g, (all, start: string, value: string) =>
      isSecretParameter(start.slice(1, -1)) ? hide(start, value) : all,
    );
  return { shown, secrets };
}

/** The secret of a header is usually behind a scheme. */
export const formsOfSecret = (value: string): string[] => [value, value.replace(/^(?:Bearer|Basic|Token)\s+/i, '')];

const hidden = (shown: string, secret: string): HiddenText => ({ shown, secrets: formsOfSecret(secret) });

const isRandomText = (text: string): boolean => text.length >= LEAST_RANDOM && !/[\s/\\:]/.test(text) && isRandom(text);

function redact(text: string): string {
  const redactor = new Redactor({ known: NONE, hidesAll: true });
  return redactor.write(text) + redactor.end();
}

function decoded(value: string): string[] {
  try {
    return [decodeURIComponent(value)];
  } catch {
    return []; // its percent signs are no encoding
  }
}
