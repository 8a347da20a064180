import type { z } from 'zod';

/** The error message for an invalid value: what is required, and the type of the value. */
export function wordsFor(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return wrongKind(issue);
    case 'invalid_value':
      return `${missing(issue)}must be ${oneOf(issue.values)}`;
    case 'unrecognized_keys':
      return `unknown ${issue.keys.length === 1 ? 'property' : 'properties'} ${quoted(issue.keys)}`;
    case 'too_small':
      return `must ${bound(issue.origin, issue.inclusive === false ? 'more than' : 'at least', issue.minimum)}`;
    case 'too_big':
      return `must ${bound(issue.origin, issue.inclusive === false ? 'less than' : 'at most', issue.maximum)}`;
    case 'invalid_format':
      return FORMATS[issue.format] ?? `must look like ${issue.pattern ?? issue.format}`;
    case 'invalid_key':
      return `is not a valid name: it ${issue.issues.map(({ message }) => message).join(', ')}`;
    case 'invalid_union':
      return noForm(issue);
    default:
      return undefined; // the message of the row
  }
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

const FORMATS: Readonly<Record<string, string>> = { url: 'must be a complete http or https address' };

const missing = ({ input }: z.core.$ZodRawIssue): string => (input === undefined ? 'is missing; it ' : '');

function wrongKind(issue: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidType>): string {
  const { expected, input } = issue;
  const wanted = `${missing(issue)}must be ${KINDS[expected] ?? expected}`;
  if (expected === 'number' && typeof input === 'number') return 'must be a finite number';
  const isAlmost = input === undefined || (expected === 'int' && typeof input === 'number');
  return isAlmost ? wanted : `${wanted}, not ${kindOf(input)}`;
}

/** For a union: the problems of the form that the value most likely has. */
function noForm({ options, errors }: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidUnion>): string {
  if (Array.isArray(options)) return `must be ${oneOf(options)}`;
  const likely = errors.filter((problems) => !problems.some(isOfAnotherKind));
  const told = (likely.length > 0 ? likely : errors).map((problems) => problems.map(toWords).join(' and '));
  return [...new Set(told)].join(', or ');
}

const isOfAnotherKind = ({ code, path }: z.core.$ZodIssue): boolean =>
  path.length === 0 && (code === 'invalid_type' || code === 'invalid_value');

const toWords = ({ path, message }: z.core.$ZodIssue): string =>
  path.length === 0 ? message : `${path.join('.')} ${message}`;

/** Only the type, because the value may be a secret in the wrong place. */
function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return KINDS[typeof value] ?? typeof value;
}

const oneOf = (values: readonly z.core.util.Primitive[]): string =>
  values.length === 1 ? JSON.stringify(values[0]) : `one of ${values.map((value) => JSON.stringify(value)).join(', ')}`;

const SHOWN = { keys: 5, characters: 64 };

const quoted = (keys: readonly string[]): string =>
  keys
    .slice(0, SHOWN.keys)
    .map((key) => JSON.stringify(key.slice(0, SHOWN.characters)))
    .join(', ');

function bound(origin: string, how: string, limit: number | bigint): string {
  if (how === 'at least' && limit === 1 && origin !== 'number' && origin !== 'int') return 'not be empty';
  if (origin === 'string') return `have ${how} ${limit} characters`;
  if (origin === 'array' || origin === 'set' || origin === 'map') return `have ${how} ${limit} entries`;
  return `be ${how} ${limit}`;
}
