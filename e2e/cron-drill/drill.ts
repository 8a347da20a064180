import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Violation } from '../checker/evidence.ts';
import { createRandom } from '../checker/random.ts';
import { playChapter } from './chapter.ts';
import { checkCron } from './rules.ts';
import { addChapter, type CronScore, NO_SCORE } from './score.ts';

export interface CronDrillOptions {
  /** Kills of a working daemon; sometimes its successor is killed, too. */
  kills: number;
  seed: number;
  say(line: string): void;
}

export interface CronDrillResult {
  score: CronScore;
  violations: Violation[];
  /** The folder of the homes and the evidence, if there is a violation. */
  folder: string;
}

const KILLS_PER_CHAPTER = 20;

/** Kills daemons around the due times of jobs, and checks the data they leave. Stops at the first violation. */
export async function runCronDrill({ kills, seed, say }: CronDrillOptions): Promise<CronDrillResult> {
  const folder = await mkdtemp(path.join(tmpdir(), 'headgate-cron-drill-'));
  const random = createRandom(seed);
  let score = NO_SCORE;
  let violations: Violation[] = [];
  for (let done = 0; done < kills && violations.length === 0; done += KILLS_PER_CHAPTER) {
    const name = `chapter-${done / KILLS_PER_CHAPTER}`;
    const played = await playChapter({
      name,
      home: path.join(folder, name, 'home'),
      kills: Math.min(KILLS_PER_CHAPTER, kills - done),
      random: random.fork(name),
      score,
    }).catch((error: unknown) => {
      throw new Error(`the drill stopped in ${name}; its homes are in ${folder}`, { cause: error });
    });
    violations = checkCron(played.evidence);
    score = addChapter(played.score, played.evidence);
    if (violations.length > 0)
      await writeFile(path.join(folder, 'evidence.json'), JSON.stringify(played.evidence, undefined, 1));
    say(`${score.kills} kills, ${played.evidence.ledger.occurrences.length} rows, ${violations.length} violations`);
  }
  if (violations.length === 0) await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  return { score, violations, folder };
}
