import type { StreamEvent, StreamEventOf, StreamEventType } from '../../protocol/stream-events.ts';
import { allowedMs } from '../support/deadline.ts';
import type { Move, Round } from './round.ts';

/** How long after the first client the last one may hear of the end. */
const TOLD_WITHIN_MS = 1_000;

/** Everything that is wrong with a round. */
export function findingsIn(round: Round): string[] {
  const { approvalId, heard } = round;
  const resolved = heard.map((one) =>
    eventsOf(one, 'approval_resolved').filter((event) => event.approval_id === approvalId),
  );
  const [end] = resolved[0] ?? [];
  if (end === undefined) return ['nobody was told of an end'];
  return [
    ...(allSame(resolved) && resolved[0]?.length === 1 ? [] : [`the ends differ: ${JSON.stringify(resolved)}`]),
    ...tellingOf(round),
    ...resultsOf(round, end),
    ...decidersOf(round, end),
    ...verdictsOf(round, end),
    ...forbiddenOf(round, end),
  ];
}

/** One stored result, the one that was told, and the file is there if and only if the call is done. */
function resultsOf({ mode, heard, outcomes, isWritten }: Round, end: StreamEventOf<'approval_resolved'>): string[] {
  const told = heard.map((one) => eventsOf(one, 'tool_result').map(({ outcome }) => outcome));
  const [outcome] = outcomes;
  // It may have got that far, or does nothing that can be seen.
  const isOpen = outcome === 'cancelled' || outcome === 'unknown' || mode === 'auto';
  return [
    ...(outcomes.length === 1 ? [] : [`${outcomes.length} results`]),
    ...(allSame(told) ? [] : [`different results were told: ${JSON.stringify(told)}`]),
    ...(told[0]?.every((one) => one === outcome) ? [] : [`told ${told[0]?.join()}, stored ${outcome}`]),
    ...(isWritten === (outcome === 'done') || isOpen
      ? []
      : [`${outcome}, and the file is ${isWritten ? '' : 'not '}there`]),
    ...((isWritten || outcome === 'done') && !end.approved ? ['it ran, and was not approved'] : []),
  ];
}

const eventsOf = <T extends StreamEventType>(heard: Round['heard'][number], type: T): StreamEventOf<T>[] =>
  heard.flatMap(({ event }) => (isOf(event, type) ? [event] : []));

const isOf = <T extends StreamEventType>(event: StreamEvent, type: T): event is StreamEventOf<T> & StreamEvent =>
  event.type === type;

const allSame = (values: readonly unknown[]): boolean =>
  values.every((value) => JSON.stringify(value) === JSON.stringify(values[0]));

/** From the first client that was told to the last one, in milliseconds. */
export function spreadOf({ heard, approvalId }: Round): number {
  const times = heard.flatMap((one) =>
    one
      .filter(({ event }) => event.type === 'approval_resolved' && event.approval_id === approvalId)
      .map(({ atMs }) => atMs),
  );
  return Math.max(...times) - Math.min(...times);
}

function tellingOf(round: Round): string[] {
  const spread = spreadOf(round);
  return spread <= allowedMs(TOLD_WITHIN_MS) ? [] : [`a client was told ${Math.round(spread)} ms after another`];
}

const DECIDING: readonly Move[] = ['approve', 'give a rule', 'deny', 'always'];

/** At most one client decided, and the end is what it decided. */
function decidersOf({ answers }: Round, end: StreamEventOf<'approval_resolved'>): string[] {
  const accepted = DECIDING.filter((move) => answers.get(move)?.ok === true);
  const refused = DECIDING.flatMap((move) => answers.get(move)?.error?.code ?? []).filter(
    (code) => code !== 'CONFLICT',
  );
  const [decider] = accepted;
  const isTheirs = end.by.kind === 'principal';
  return [
    ...(accepted.length > 1 ? [`several decided: ${accepted.join(', ')}`] : []),
    ...(refused.length > 0 ? [`refused with ${refused.join(', ')}`] : []),
    ...(isTheirs === (decider !== undefined)
      ? []
      : [`decided by ${end.by.kind}, and ${decider ?? 'no client'} was accepted`]),
    ...(decider !== undefined && isTheirs && end.approved !== (decider !== 'deny')
      ? [`${decider} became ${end.approved}`]
      : []),
  ];
}

const DECISIONS: Record<string, readonly string[]> = {
  timeout: ['timeout'],
  judge: ['smart_approval'],
  cancel: ['cancelled'],
  shutdown: ['cancelled'],
};

/** One verdict of each tier at most, applied once, each with what was decided. */
function verdictsOf(
  { mode, verdicts, heard, recommendation }: Round,
  end: StreamEventOf<'approval_resolved'>,
): string[] {
  const late = heard.map((one) => eventsOf(one, 'intent_verdict').length);
  const tiers = verdicts.map(({ tier }) => tier);
  const expected = DECISIONS[end.by.kind] ?? [end.approved ? 'approved' : 'denied'];
  const strange = verdicts.filter(({ decision }) => !expected.includes(decision));
  return [
    ...(new Set(tiers).size === tiers.length && tiers.includes('heuristic') ? [] : [`verdicts: ${tiers.join(', ')}`]),
    ...(late.every((count) => count <= 1) ? [] : [`late verdicts: ${late.join(', ')}`]),
    ...(strange.length === 0
      ? []
      : [`ended by ${end.by.kind} as ${expected.join()}, and a verdict says ${JSON.stringify(strange)}`]),
    ...(isByJudge(end) && (recommendation === 'deny' || mode !== 'auto')
      ? ['the judge approved what it would deny, or may not approve']
      : []),
  ];
}

const isByJudge = ({ by }: StreamEventOf<'approval_resolved'>): boolean => by.kind === 'judge';

/** A rule that denied before anybody decided has blocked it. */
function forbiddenOf(
  { moves, answers, isWritten, outcomes }: Round,
  end: StreamEventOf<'approval_resolved'>,
): string[] {
  const isFirst = moves[0] === 'forbid' && moves.length === 1;
  if (!isFirst || answers.get('forbid')?.ok !== true) return [];
  return isWritten || end.approved || outcomes.includes('done') ? ['it ran although a rule denied it before'] : [];
}
