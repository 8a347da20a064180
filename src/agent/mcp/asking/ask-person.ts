import type { AskedQuestion } from '../../../../protocol/events/questions/asked-question.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import type { GivenInput } from '../../tools/person/asked-input.ts';
import type { ElicitResult } from '../session.ts';
import { type AskedOfPerson, readAsked } from './asked-form.ts';
import { readFieldAnswer } from './field-answer.ts';
import type { FieldValue, FormField } from './form-field.ts';

/** Puts one question to the person. */
export type AskOne = (question: AskedQuestion) => Promise<GivenInput>;

interface Asking {
  server: string;
  ask: AskOne;
  /** Called with the reason when the question of the server is not shown. */
  onRefused(why: string): void;
}

/** Wrong entries are asked for again, but not for ever. */
const MOST_TRIES = 3;

/**
 * Puts the question of a server to the person, one field of its form after the other. What nobody should be asked is declined
 * at once. A refusal of one field declines the form.
 */
export async function askPerson(params: unknown, asking: Asking): Promise<ElicitResult> {
  const asked = readAsked(params);
  if (typeof asked === 'string') {
    asking.onRefused(asked);
    return { action: 'decline' };
  }
  return asked.kind === 'url' ? askToOpen(asked, asking) : fillIn(asked, asking);
}

async function fillIn({ message, fields }: AskedForm, { server, ask }: Asking): Promise<ElicitResult> {
  const by = `The tool server ${toVisibleLine(server)} asks: ${message}`;
  if (fields.length === 0) return toResult(await ask({ text: `${by}\n\n${WHERE}`, choices: [{ label: 'yes' }] }));
  const content: Record<string, FieldValue> = Object.create(null);
  for (const [index, field] of fields.entries()) {
    const place = fields.length === 1 ? '' : ` (${index + 1} of ${fields.length})`;
    const filled = await fillField(field, { by, place, ask });
    if (filled.kind === 'over') return { action: filled.action };
    if (filled.value !== undefined) content[field.name] = filled.value;
  }
  return { action: 'accept', content: { ...content } };
}

type AskedForm = Extract<AskedOfPerson, { kind: 'form' }>;
type Filled = { kind: 'filled'; value: FieldValue | undefined } | { kind: 'over'; action: 'decline' | 'cancel' };

async function fillField(field: FormField, { by, place, ask }: Asked): Promise<Filled> {
  let problem = '';
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const given = await ask(toQuestion(field, { by, place, problem }));
    if (given.kind !== 'answered') return { kind: 'over', action: given.kind === 'denied' ? 'decline' : 'cancel' };
    const entered = toEntered(field, given.answer);
    if (typeof entered !== 'string') return entered;
    problem = entered;
  }
  return { kind: 'over', action: 'cancel' };
}

interface Asked {
  by: string;
  place: string;
  ask: AskOne;
}

/** A text: why it has to be asked for again. */
function toEntered(field: FormField, given: { text?: string; choice?: string }): Filled | string {
  const answer = readFieldAnswer(field, given);
  if (answer.kind === 'value') return { kind: 'filled', value: answer.value };
  if (answer.kind === 'problem') return answer.problem;
  return field.isRequired ? 'This needs an answer.' : { kind: 'filled', value: undefined };
}

function toQuestion(
  field: FormField,
  { by, place, problem }: { by: string; place: string; problem: string },
): AskedQuestion {
  const { title, description, kind, choices } = field;
  const isChosen = kind === 'choice' || kind === 'boolean';
  const text = [
    by,
    '',
    ...(problem === '' ? [] : [problem]),
    `${title}${place}${description === '' ? '' : `: ${description}`}`,
    ...(kind === 'list'
      ? [`Any of these, with commas between them: ${choices.map(({ label }) => label).join(', ')}`]
      : []),
    ifEmpty(field),
    WHERE,
  ];
  return { text: text.join('\n'), choices: isChosen ? choices.map(({ label }) => ({ label })) : [] };
}

function ifEmpty({ usual, isRequired, choices, kind }: FormField): string {
  if (usual === undefined) return isRequired ? 'An answer is needed.' : 'It may be left empty.';
  const labelOf = (value: string) => choices.find((choice) => choice.value === value)?.label ?? value;
  const shown = Array.isArray(usual) ? usual.map(labelOf).join(', ') : labelOf(String(usual));
  return `Left empty, it is: ${kind === 'text' ? JSON.stringify(toVisibleLine(shown.slice(0, 500))) : shown}`;
}

const WHERE = 'Your answer goes to that server, and stays in this conversation. Do not enter passwords or keys.';

async function askToOpen({ message, url, host }: AskedPage, { server, ask }: Asking): Promise<ElicitResult> {
  const text = [
    `The tool server ${toVisibleLine(server)} asks you to open a page of ${host}: ${message}`,
    '',
    url,
    `Open it only if you know ${host} and expected this. Headgate has not looked at the page.`,
  ];
  const { action } = toResult(await ask({ text: text.join('\n'), choices: [{ label: 'I have opened it' }] }));
  return { action };
}

type AskedPage = Extract<AskedOfPerson, { kind: 'url' }>;

function toResult({ kind }: GivenInput): ElicitResult {
  if (kind === 'answered') return { action: 'accept', content: {} };
  return { action: kind === 'denied' ? 'decline' : 'cancel' };
}
