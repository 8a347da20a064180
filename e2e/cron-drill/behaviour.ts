import type { Random } from '../checker/random.ts';
import { effectCommand } from '../checker/recording/effects-file.ts';
import type { Answer, ChatRequest } from '../support/model/scripted-model.ts';
import { callTools, pause, say, stall } from '../support/model/scripted-steps.ts';

/** A slow model that runs one command per turn of a job. */
export function createBehaviour(random: Random, { effectsFile }: { effectsFile: string }) {
  let isCalm = false;
  const held = new Set<() => void>();
  const dawdle = () => {
    if (isCalm || random.chance(0.5)) return pause(0);
    if (random.chance(0.7)) return pause(random.int(10, 800));
    const hold = stall();
    held.add(hold.release);
    return hold;
  };
  return {
    answer({ messages }: ChatRequest): Answer {
      const turn = messages.findLastIndex(({ role }) => role === 'user');
      const [, jobId] = /^\[cron:(\S+) /.exec(String(messages[turn]?.content)) ?? [];
      if (jobId === undefined) return say('HEARTBEAT_OK');
      if (messages.slice(turn).some(({ role }) => role === 'tool')) return [dawdle(), say('It is done.')];
      // The n-th turn of this session, regardless of the number of requests.
      const tag = `${jobId}-${messages.filter(({ role }) => role === 'user').length}`;
      const command = effectCommand({ tag, file: effectsFile, secs: random.int(0, 400) / 1_000 });
      return [dawdle(), callTools({ name: 'bash', arguments: { command } })];
    },
    /** From now on it answers at once, including pending requests. */
    calmDown(): void {
      isCalm = true;
      for (const release of held) release();
    },
  };
}
