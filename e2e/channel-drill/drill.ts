import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { checkChats } from '../checker/channels/chat-rules.ts';
import { checkDisk } from '../checker/check.ts';
import type { Violation } from '../checker/evidence.ts';
import { createRandom } from '../checker/random.ts';
import { type Play, playChapter } from './chapter.ts';
import { addChapter, type ChannelScore, NO_SCORE } from './score.ts';

export interface ChannelDrillOptions {
  /** Kills of a working daemon; sometimes its successor is killed, too. */
  kills: number;
  /** How many messages people write, about. */
  messages: number;
  seed: number;
  /** What the chapters play, in turn. Default: only messages, and the policy `once`. */
  plays?: readonly Play[];
  say(line: string): void;
}

export interface ChannelDrillResult {
  score: ChannelScore;
  violations: Violation[];
  /** The folder of the homes and the evidence, if there is a violation. */
  folder: string;
}

/** So few that `channel.part.list` has all parts of a chapter. */
const KILLS_PER_CHAPTER = 25;

const ONLY_MESSAGES: Play = { ambiguous: 'once', decides: false };

/** Everything, in turn. */
export const ALL_PLAYS: readonly Play[] = [
  { ambiguous: 'once', decides: true },
  { ambiguous: 'retry', decides: true },
  ONLY_MESSAGES,
];

/** Kills daemons while people write to a bot, and checks the data they leave. Stops at the first violation. */
export async function runChannelDrill({
  kills,
  messages,
  seed,
  plays = [ONLY_MESSAGES],
  say,
}: ChannelDrillOptions): Promise<ChannelDrillResult> {
  const folder = await mkdtemp(path.join(tmpdir(), 'headgate-channel-drill-'));
  const random = createRandom(seed);
  let score = NO_SCORE;
  let violations: Violation[] = [];
  for (let done = 0; done < kills && violations.length === 0; done += KILLS_PER_CHAPTER) {
    const name = `chapter-${done / KILLS_PER_CHAPTER}`;
    const { ambiguous, decides } = plays[(done / KILLS_PER_CHAPTER) % plays.length] ?? ONLY_MESSAGES;
    const part = Math.min(KILLS_PER_CHAPTER, kills - done);
    const played = await playChapter({
      name,
      home: path.join(folder, name, 'home'),
      kills: part,
      messages: Math.ceil((messages * part) / kills),
      random: random.fork(name),
      score,
      ambiguous,
      decides,
    }).catch((error: unknown) => {
      throw new Error(`the drill stopped in ${name}; its homes are in ${folder}`, { cause: error });
    });
    violations = [...checkChats(played.evidence), ...checkDisk(played.evidence.disk)];
    score = addChapter(played.score, played.evidence);
    if (violations.length > 0)
      await writeFile(path.join(folder, 'evidence.json'), JSON.stringify(played.evidence, undefined, 1));
    say(`${score.kills} kills, ${score.messages} messages, ${violations.length} violations`);
  }
  if (violations.length === 0) await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  return { score, violations, folder };
}
