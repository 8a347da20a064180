import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import type { FieldValue, FormField } from './form-field.ts';

/** `missing`: nothing was entered, and nothing counts instead. */
type FieldAnswer = { kind: 'value'; value: FieldValue } | { kind: 'missing' } | { kind: 'problem'; problem: string };

/** What a person entered in a field, as its server expects it. */
export function readFieldAnswer(field: FormField, answer: { text?: string; choice?: string }): FieldAnswer {
  const text = (answer.text ?? '').trim();
  const entered = text !== '' ? text : (answer.choice ?? '');
  if (entered === '') return field.usual === undefined ? { kind: 'missing' } : { kind: 'value', value: field.usual };
  const value = toValue(field, entered);
  if (typeof value === 'object' && 'problem' in value) return { kind: 'problem', problem: value.problem };
  const problem = whyNot(field, value);
  return problem === undefined ? { kind: 'value', value } : { kind: 'problem', problem };
}

function toValue(field: FormField, entered: string): FieldValue | { problem: string } {
  const find = (word: string) => {
    const sought = word.trim().toLowerCase();
    return field.choices.find(({ label, value }) => [label.toLowerCase(), value.toLowerCase()].includes(sought))?.value;
  };
  switch (field.kind) {
    case 'text':
      return entered;
    case 'number':
    case 'integer':
      return Number.isFinite(Number(entered)) ? Number(entered) : { problem: 'A number is needed.' };
    case 'boolean': {
      const value = find(entered);
      return value === undefined ? { problem: 'The answer must be yes or no.' } : value === 'true';
    }
    case 'choice':
      return find(entered) ?? { problem: 'The answer must be one of the choices.' };
    case 'list': {
      const words = entered.split(/[,\n]/).filter((word) => word.trim() !== '');
      const values = words.map(find);
      const at = values.indexOf(undefined);
      return at === -1
        ? [...new Set(values.filter((value) => value !== undefined))]
        : { problem: `${JSON.stringify(toVisibleLine((words[at] ?? '').trim()))} is none of the choices.` };
    }
  }
}

function whyNot({ kind, least, most, format }: FormField, value: FieldValue): string | undefined {
  if (kind === 'integer' && !Number.isInteger(value)) return 'A whole number is needed.';
  const [size, unit] = sizeOf(value);
  if (size !== undefined && least !== undefined && size < least) return `At least ${least}${unit}.`;
  if (size !== undefined && most !== undefined && size > most) return `At most ${most}${unit}.`;
  return typeof value === 'string' && kind === 'text' ? formatProblem(format, value) : undefined;
}

function sizeOf(value: FieldValue): [number | undefined, string] {
  if (typeof value === 'number') return [value, ''];
  if (typeof value === 'string') return [[...value].length, ' characters'];
  return Array.isArray(value) ? [value.length, ' of the choices'] : [undefined, ''];
}

/** The formats that forms may name; others are hints. */
function formatProblem(format: string | undefined, value: string): string | undefined {
  switch (format) {
    case 'email':
      return /^[^\s@]+@[^\s@]+$/.test(value) ? undefined : 'An email address is needed.';
    case 'uri':
      return URL.canParse(value) ? undefined : 'A whole address is needed, with its scheme.';
    case 'date':
      return /^\d{4}-\d\d-\d\d$/.test(value) && isTime(value) ? undefined : 'A date such as 2026-01-31 is needed.';
    case 'date-time':
      return /^\d{4}-\d\d-\d\dT/.test(value) && isTime(value)
        ? undefined
        : 'A time such as 2026-01-31T12:00:00Z is needed.';
    default:
      return undefined;
  }
}

const isTime = (value: string): boolean => !Number.isNaN(Date.parse(value));
