import { composeCommand, createRandom } from '../../src/agent/permissions/corpus/compositions-fixture.ts';
import { readCommand } from '../../src/agent/permissions/read-command.ts';
import { findMisses, type Miss } from './compare.ts';
import { openTracer } from './run-traced.ts';

interface OracleOptions {
  /** Commands to run first. */
  given: readonly string[];
  /** How many commands to run; those beyond the given ones are composed. */
  count: number;
  seed: number;
}

interface OracleResult {
  ran: number;
  /** All of them. */
  commands: string[];
  /** Commands without unknown effects, whose effects are compared. */
  known: number;
  misses: (Miss & { command: string })[];
}

/** Waits for a terminal, input or the network, or ends the traced shell: nothing to see. */
const ENDLESS = /\b(tail -f|watch|sudo|su|vim|reboot|shutdown|nc -l|strace)\b|\byes\b/;
const AT_ONCE = 2;

/** Runs commands under strace in the sandbox, and finds effects that their reading did not name. */
export async function runOracle({ given, count, seed }: OracleOptions): Promise<OracleResult> {
  await using tracer = await openTracer();
  const random = createRandom(seed);
  const left = given.filter((command) => !ENDLESS.test(command)).slice(0, count);
  while (left.length < count) left.push(composeCommand(random, left.length % 3).command);
  const result: OracleResult = { ran: 0, commands: [...left], known: 0, misses: [] };
  const work = async () => {
    for (let command = left.shift(); command !== undefined; command = left.shift()) {
      const { trace, folder } = await tracer.trace(command);
      const reading = readCommand(command, { folder, home: folder });
      result.ran += 1;
      if (!reading.effects.some(({ kind }) => kind === 'unknown')) result.known += 1;
      for (const miss of findMisses(reading, trace)) result.misses.push({ ...miss, command: command ?? '' });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return result;
}
