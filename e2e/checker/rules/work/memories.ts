import type { Evidence, Finding } from '../../evidence.ts';
import { callsBy, resultFor, workersOf } from '../../workers.ts';

interface Saved {
  action: string;
  name?: string;
  content?: string;
}

/**
 * A memory that was saved is there once, as it was saved, and one whose call did not run is not. The names of the calls that
 * are looked at are theirs alone.
 */
export function* memoriesKept({ disk, settled }: Evidence): Generator<Finding> {
  if (!settled) return;
  const calls = disk.workstreams.flatMap(workersOf).flatMap((worker) =>
    callsBy(worker)
      .filter(({ name }) => name === 'memory')
      .map(({ id, arguments: text }) => ({ id, worker, args: read(text), outcome: resultFor(worker, id)?.outcome })),
  );
  for (const [name, own] of Map.groupBy(calls, ({ args }) => args?.name)) {
    const [call] = own;
    if (name === undefined || own.length !== 1 || call?.args?.action !== 'save') continue;
    const found = disk.memories.filter((memory) => memory.name === name && memory.content === call.args?.content);
    const { outcome, worker } = call;
    const isWrong = outcome === 'done' ? found.length !== 1 : outcome === 'denied' && found.length > 0;
    if (isWrong) yield { what: `${name} (${outcome}) is there ${found.length} times`, where: worker.place };
  }
}

function read(text: string): Saved | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // a model may send anything
  }
}
