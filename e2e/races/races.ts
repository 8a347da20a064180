import { checkDisk } from '../checker/check.ts';
import { createRandom } from '../checker/random.ts';
import { readDisk } from '../checker/read-disk.ts';
import { findingsIn, spreadOf } from './findings.ts';
import { playRound, type Round } from './round.ts';
import { openRaceStage, type RaceStage } from './stage.ts';

/** After so many rounds their workstreams are compared with the database, and deleted. */
const ROUNDS_TOGETHER = 50;

export interface RacesResult {
  findings: string[];
  /** How often each kind of end happened; `slowestTellingMs`: between the first client and the last. */
  tally: Record<string, number>;
}

/** Asks many questions, each decided by everybody at once. Stops at the first finding. */
export async function runRaces(options: {
  rounds: number;
  seed: number;
  say(line: string): void;
}): Promise<RacesResult> {
  await using stage = await openRaceStage();
  const random = createRandom(options.seed);
  const findings: string[] = [];
  const tally: Record<string, number> = { rounds: 0, slowestTellingMs: 0 };
  let together: string[] = [];
  for (let number = 0; number < options.rounds && findings.length === 0; number += 1) {
    const round = await playRound(stage, number, random.fork(number));
    count(tally, round);
    findings.push(
      ...findingsIn(round).map((what) => `round ${number} (${round.mode}: ${round.moves.join(', ')}): ${what}`),
    );
    together.push(round.wsId);
    if (together.length < ROUNDS_TOGETHER && number < options.rounds - 1) continue;
    findings.push(...checkDisk(readDisk(stage.daemon.home, together)).map((violation) => JSON.stringify(violation)));
    await clear(stage, together);
    together = [];
    if (tally.rounds !== undefined && tally.rounds % 500 === 0) options.say(`${tally.rounds} rounds`);
  }
  return { findings, tally };
}

function count(tally: Record<string, number>, round: Round): void {
  const resolved = round.heard[0]?.find(({ event }) => event.type === 'approval_resolved')?.event;
  const end = resolved?.type === 'approval_resolved' ? `${resolved.by.kind} ${resolved.approved}` : 'none';
  tally.rounds = (tally.rounds ?? 0) + 1;
  tally[end] = (tally[end] ?? 0) + 1;
  if (round.isWritten) tally.ran = (tally.ran ?? 0) + 1;
  if (round.verdicts.some(({ tier }) => tier === 'llm')) tally.judged = (tally.judged ?? 0) + 1;
  tally.slowestTellingMs = Math.max(tally.slowestTellingMs ?? 0, Math.round(spreadOf(round)));
}

async function clear({ listeners }: RaceStage, wsIds: readonly string[]): Promise<void> {
  const [first] = listeners;
  for (const wsId of wsIds) await first?.client.call('workstream.delete', { wsId });
  for (const listener of listeners) listener.forget();
}
