import type { StreamFrame } from '../evidence.ts';
import { continued, type Defect, pickRun } from './defect.ts';

/** Defects of a daemon that takes over, or that forwards. Clients and the database show them. */
export const OWNER_DEFECTS: Defect[] = [
  {
    name: 'a standby answers a message itself, and the active daemon never hears of it',
    rule: 'accepted messages are kept',
    apply({ calls }, random) {
      const sent = calls.filter(({ method, answers }) => method === 'workstream.send' && answers.some(({ ok }) => ok));
      for (const answer of random.pick(sent).answers) answer.payload = { runId: 'run_of_the_standby' };
    },
  },
  {
    name: 'a message with a key is sent to the former holder and to the next one, and both accept it',
    rule: 'a key has one answer',
    apply(evidence, random) {
      const { workstream, part } = pickRun(evidence, random, ({ run }) => run.run_key !== null);
      const again = `${part.run.run_id}_again`;
      workstream.runs.push(
        structuredClone({ ...part, run: { ...part.run, run_id: again, epoch: part.run.epoch + 1 } }),
      );
    },
  },
  {
    name: 'the next holder repeats the last event of a stream',
    rule: 'every event is received once and in order',
    apply(evidence, random) {
      const pairs = continued(evidence).flatMap(({ stream, before }) => {
        const last = before.frames.findLast(({ id }) => id !== undefined);
        return last && last.data.type !== 'history' ? [{ stream, last }] : [];
      });
      const { stream, last } = random.pick(pairs);
      stream.frames.splice(2, 0, structuredClone(last));
    },
  },
  {
    name: 'the next holder does not know a cursor of the former one',
    rule: 'a stream resumes exactly or says why not',
    apply(evidence, random) {
      const { stream } = random.pick(continued(evidence));
      const lost: Partial<StreamFrame['data']> = { recovered: false, reason: 'ahead' };
      Object.assign(stream.frames[0]?.data ?? {}, lost);
    },
  },
  {
    name: 'the next holder continues a stream somewhere else',
    rule: 'a stream resumes exactly or says why not',
    apply(evidence, random) {
      const [, history] = random.pick(continued(evidence)).stream.frames;
      if (history) history.id = `${evidence.disk.epoch}:0`;
    },
  },
];
