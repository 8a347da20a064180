import { isRecord } from '../../../../protocol/is-record.ts';
import { toVisibleLine, toVisibleText } from '../../../../protocol/text/visible-text.ts';
import { asksForSecret } from './asks-for-secret.ts';
import { type FormField, readField } from './form-field.ts';

/** What a server asks the person, within the limits. */
export type AskedOfPerson =
  | { kind: 'form'; message: string; fields: FormField[] }
  | { kind: 'url'; message: string; url: string; host: string };

const MOST_FIELDS = 12;
const MOST_MESSAGE = 2_000;
const MOST_URL = 2_048;

/** Reads the question of a server. A text: why it is not shown to anybody. */
export function readAsked(params: unknown): AskedOfPerson | string {
  if (!isRecord(params) || typeof params.message !== 'string') return 'it has no message';
  const message = toVisibleText(params.message.slice(0, MOST_MESSAGE)).trim();
  if (params.mode === 'url') return readUrl(message, params.url);
  if (params.mode !== undefined && params.mode !== 'form') return 'it is of an unknown kind';
  return readForm(message, params.requestedSchema);
}

function readForm(message: string, schema: unknown): AskedOfPerson | string {
  if (asksForSecret(message)) return SECRET;
  if (!isRecord(schema) || schema.type !== 'object' || !isRecord(schema.properties))
    return 'it does not describe a form';
  const names = Object.keys(schema.properties);
  if (names.length > MOST_FIELDS) return `its form has ${names.length} fields, more than ${MOST_FIELDS}`;
  const required = Array.isArray(schema.required) ? schema.required : [];
  const fields: FormField[] = [];
  for (const name of names) {
    const field = readField(name, schema.properties[name], required.includes(name));
    if (typeof field === 'string') return `its field ${JSON.stringify(toVisibleLine(name.slice(0, 80)))} ${field}`;
    if (field.isSecret) return SECRET;
    fields.push(field);
  }
  return { kind: 'form', message, fields };
}

const SECRET = 'it asks for a password, a key or the like, which no form may do';

/** The page is only shown; nothing here opens it. */
function readUrl(message: string, text: unknown): AskedOfPerson | string {
  const url = typeof text === 'string' && text.length <= MOST_URL ? URL.parse(text) : null;
  if (!url) return 'it names no address';
  const isLocal = url.protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  if (url.protocol !== 'https:' && !isLocal) return 'its address does not begin with https://';
  if (url.username !== '' || url.password !== '') return 'its address contains a user or a password';
  return { kind: 'url', message, url: toVisibleLine(url.href), host: url.host };
}
