import type { Arena } from './arena.ts';
import type { Contender } from './contenders.ts';
import { ESCAPES, type EscapeRow } from './rows.ts';

/** How one way out ended: what got out; empty if nothing did. */
export interface EscapeResult extends Pick<EscapeRow, 'name' | 'category'> {
  contender: string;
  escapes: string[];
  tookMs: number;
}

/** Tries each row in a start of its own. */
export async function runEscapes(arena: Arena, contender: Contender, rows = ESCAPES): Promise<EscapeResult[]> {
  const results: EscapeResult[] = [];
  for (const { name, category, command } of rows) {
    await arena.reset();
    const begunMs = performance.now();
    const printed = await contender.run(command);
    const tookMs = Math.round(performance.now() - begunMs);
    results.push({ name, category, contender: contender.name, escapes: await arena.escapes(printed), tookMs });
  }
  return results;
}

/** Tries all rows of a category in one start, for a quick look. Later rows may build on what earlier ones left; none ends the others. */
export async function runTogether(arena: Arena, contender: Contender): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const [category, rows] of Map.groupBy(ESCAPES, (row) => row.category)) {
    await arena.reset();
    const printed = await contender.run(
      `trap '' TERM\n${rows.map(({ command }) => `(${command}\n) 2>&1 </dev/null | tail -c 5000\necho`).join('\n')}`,
    );
    found[category] = await arena.escapes(printed);
  }
  return found;
}
