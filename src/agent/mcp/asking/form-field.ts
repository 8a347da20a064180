import { isRecord } from '../../../../protocol/is-record.ts';
import { toVisibleLine, toVisibleText } from '../../../../protocol/text/visible-text.ts';
import { asksForSecret } from './asks-for-secret.ts';

/** A choice as the server calls it, and as people read it. */
export interface FieldChoice {
  value: string;
  label: string;
}

export type FieldValue = string | number | boolean | string[];

/** One entry of a form. */
export interface FormField {
  name: string;
  title: string;
  description: string;
  isRequired: boolean;
  isSecret: boolean;
  /** `list`: any number of the choices. */
  kind: 'text' | 'number' | 'integer' | 'boolean' | 'choice' | 'list';
  choices: FieldChoice[];
  /** Of the text's length, of the number, or of how many choices. */
  least: number | undefined;
  most: number | undefined;
  format: string | undefined;
  usual: FieldValue | undefined;
}

const MOST_NAME = 200;
const MOST_DESCRIPTION = 1_000;
const MOST_CHOICES = 50;
const MOST_LABEL = 150;

/** Reads a field of a form. A text: why nobody can fill it in. Patterns are no part of the protocol and are not looked at. */
export function readField(name: string, schema: unknown, isRequired: boolean): FormField | string {
  if (!isRecord(schema)) return 'is not described';
  if (name.length > MOST_NAME) return `has a name of more than ${MOST_NAME} characters`;
  const texts = [name, wordOf(schema.title), wordOf(schema.description)];
  const [, title = '', description = ''] = texts;
  const kind = kindOf(schema);
  if (kind === undefined) return 'is of a kind that forms do not have';
  const choices = choicesOf(kind, schema);
  if (typeof choices === 'string') return choices;
  const [least, most] = LIMITS[kind].map((key) => toNumber(schema[key]));
  return {
    name,
    title: toVisibleLine((title || name).slice(0, MOST_NAME)),
    description: toVisibleText(description.slice(0, MOST_DESCRIPTION)),
    isRequired,
    isSecret: texts.some(asksForSecret) || schema.format === 'password',
    kind,
    choices,
    least,
    most,
    format: typeof schema.format === 'string' ? schema.format : undefined,
    usual: usualOf(kind, schema.default, choices),
  };
}

const wordOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const toNumber = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

const LIMITS = {
  text: ['minLength', 'maxLength'],
  number: ['minimum', 'maximum'],
  integer: ['minimum', 'maximum'],
  boolean: [],
  choice: [],
  list: ['minItems', 'maxItems'],
} as const satisfies Record<FormField['kind'], readonly string[]>;

function kindOf({ type, enum: values, oneOf }: Record<string, unknown>): FormField['kind'] | undefined {
  switch (type) {
    case 'string':
      return values === undefined && oneOf === undefined ? 'text' : 'choice';
    case 'number':
    case 'integer':
    case 'boolean':
      return type;
    case 'array':
      return 'list';
    default:
      return undefined;
  }
}

function choicesOf(kind: FormField['kind'], schema: Record<string, unknown>): FieldChoice[] | string {
  if (kind === 'boolean') return YES_NO;
  if (kind !== 'choice' && kind !== 'list') return [];
  const listed = listedIn(kind === 'list' ? schema.items : schema);
  if (listed.length === 0) return 'has no choices';
  if (listed.length > MOST_CHOICES) return `has ${listed.length} choices, more than ${MOST_CHOICES}`;
  const choices = new Map<string, FieldChoice>();
  for (const [value, title] of listed) {
    if (typeof value !== 'string' || value.length > MOST_NAME) return 'has a choice that is no short text';
    const label = uniqueLabel(value, wordOf(title), choices);
    choices.set(label, { value, label });
  }
  return [...choices.values()];
}

/** Values with their titles: `enum` with or without `enumNames`, or constants with titles. */
function listedIn(from: unknown): [unknown, unknown][] {
  if (!isRecord(from)) return [];
  const titled = from.oneOf ?? from.anyOf;
  if (Array.isArray(titled))
    return titled.map((one) => (isRecord(one) ? [one.const, one.title] : [undefined, undefined]));
  const names = toArray(from.enumNames);
  return toArray(from.enum).map((value, index) => [value, names[index]]);
}

/** Two choices that look the same are told apart by their values, and by their places at last. */
function uniqueLabel(value: string, title: string, others: ReadonlyMap<string, unknown>): string {
  const label = toVisibleLine((title || value).slice(0, MOST_LABEL));
  const possible = [label, `${label} (${toVisibleLine(value.slice(0, 40))})`];
  return possible.find((one) => one !== '' && !others.has(one)) ?? `${label} #${others.size + 1}`;
}

const YES_NO: FieldChoice[] = [
  { value: 'true', label: 'yes' },
  { value: 'false', label: 'no' },
];

const toArray = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** What counts if nothing is entered; a default that does not fit its field is none. */
function usualOf(kind: FormField['kind'], value: unknown, choices: readonly FieldChoice[]): FieldValue | undefined {
  return isValue(value) && FITS[kind](value, new Set(choices.map((choice) => choice.value))) ? value : undefined;
}

const isValue = (value: unknown): value is FieldValue =>
  ['string', 'number', 'boolean'].includes(typeof value) ||
  (Array.isArray(value) && value.every((one) => typeof one === 'string'));

const FITS: Record<FormField['kind'], (value: FieldValue, choices: ReadonlySet<unknown>) => boolean> = {
  text: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  choice: (value, choices) => choices.has(value),
  list: (value, choices) => Array.isArray(value) && value.every((one) => choices.has(one)),
};
