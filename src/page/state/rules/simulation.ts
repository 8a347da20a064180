import type { RuledCall } from '../../../../protocol/methods/admin/rule.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import { refusalOf } from '../accounts/refusal.ts';

/** A past call that would have been decided otherwise. */
export interface ChangedCall {
  key: string;
  wsId: string;
  atMs: number;
  /** Its tool, and what it works on. */
  name: string;
  /** What would happen, and what did. */
  words: string;
}

/** What a change would have done to the latest calls. */
export interface Simulation {
  /** In one sentence; or why it is unknown. */
  words: string;
  /** The newest first. */
  calls: readonly ChangedCall[];
}

interface Answer {
  total: number;
  calls: readonly (Pick<RuledCall, 'wsId' | 'callId' | 'tool' | 'subject' | 'atMs' | 'was' | 'would'> & {
    label?: string;
  })[];
}

const WAS: Record<RuledCall['was'], string> = { run: 'run unasked', ask: 'asked', deny: 'blocked' };
const WOULD: Record<RuledCall['would'], string> = { run: 'run unasked', ask: 'ask', deny: 'be blocked' };

/** Never throws. */
export async function simulate(ask: () => Promise<Answer>): Promise<Simulation> {
  try {
    const { total, calls } = await ask();
    const changed = calls.filter(({ was, would }) => was !== would);
    return { words: toWords(total, changed.length), calls: changed.map(toChanged) };
  } catch (error) {
    return { words: refusalOf(error), calls: [] };
  }
}

const toWords = (total: number, changed: number): string =>
  total === 0
    ? 'No calls of tools are stored yet.'
    : `Of the latest ${total} calls, ${changed === 0 ? 'none' : changed} would have been decided otherwise.`;

const toChanged = ({ wsId, callId, tool, label = tool, subject, atMs, was, would }: Answer['calls'][number]) => ({
  key: `${wsId} ${callId}`,
  wsId,
  atMs,
  name: toVisibleLine(subject === undefined ? label : `${label}: ${subject}`),
  words: `would ${WOULD[would]}; was: ${WAS[was]}`,
});
