import { RequestError } from '../../../../protocol/client/request-error.ts';
import { isRecord } from '../../../../protocol/is-record.ts';
import { refusalOf } from '../accounts/refusal.ts';

/** Why the daemon refused what a form holds. */
export interface FormRefusal {
  /** What is wrong with fields, by their names. */
  fields: Partial<Record<string, string>>;
  /** What is wrong otherwise. */
  rest: string | undefined;
}

/** Fields are named by the `issues` of the error. Those that the form does not have are named in `rest`. */
function toFormRefusal(error: unknown, known: readonly string[]): FormRefusal {
  const issues = error instanceof RequestError ? issuesIn(error.details) : [];
  const fields = Object.fromEntries(
    issues.flatMap(({ path, message }) => {
      const field = path.split('.')[0] ?? '';
      return known.includes(field) ? [[field, toSentence(message)]] : [];
    }),
  );
  return { fields, rest: Object.keys(fields).length > 0 ? undefined : refusalOf(error) };
}

/** Runs what a form is for. Returns undefined on success. */
export async function attemptForm(
  run: () => Promise<unknown>,
  known: readonly string[],
): Promise<FormRefusal | undefined> {
  try {
    await run();
    return undefined;
  } catch (error) {
    if (error instanceof FieldProblem) return { fields: { [error.field]: toSentence(error.message) }, rest: undefined };
    return toFormRefusal(error, known);
  }
}

/** A field that cannot be sent as it is. */
export class FieldProblem extends Error {
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.field = field;
  }
}

function issuesIn(details: unknown): { path: string; message: string }[] {
  if (!isRecord(details) || !Array.isArray(details.issues)) return [];
  return details.issues.flatMap((issue: unknown) =>
    isRecord(issue) && typeof issue.path === 'string' && typeof issue.message === 'string'
      ? [{ path: issue.path, message: issue.message }]
      : [],
  );
}

/** The label of the field stands above. */
const toSentence = (message: string): string =>
  `${message.charAt(0).toUpperCase()}${message.slice(1)}${/[.!?]$/.test(message) ? '' : '.'}`;
