import { givenCommands } from '../effects/given-commands.ts';
import { runOracle } from '../effects/oracle.ts';
import { type Figure, toFigures } from './figure.ts';

/** How often a command did something that its reading did not name. Slow; needs bubblewrap and strace. */
export async function oracleFigures(): Promise<Figure[]> {
  const { commands, misses } = await runOracle({ given: givenCommands(), count: 2_000, seed: 1 });
  for (const { what, target, command } of misses) process.stdout.write(`${what} ${target}\n    ${command}\n`);
  const missed = new Set(misses.map(({ command }) => command));
  return toFigures(commands, {
    set: 'Execution oracle',
    what: 'had an effect that was not named',
    aim: 0,
    text: (command) => command,
    isHit: (command) => missed.has(command),
  });
}
