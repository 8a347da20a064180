import { EXIT } from '../../exit-codes.ts';
import type { Log } from '../../log.ts';
import type { Daemon, DaemonEnd, DaemonOptions, Standby } from '../daemon-options.ts';

interface LifeDeps {
  /** `port`: the one of the daemon before. */
  start(how: Pick<DaemonOptions, 'onOver' | 'standby'> & { port?: number }): Promise<Daemon>;
  /** Absent: this daemon does not wait for others. */
  standby: Standby | undefined;
}

interface Following {
  /** Stops the daemon in order, and ends the process with this code. */
  end(why: string, code: number): void;
  /** A daemon serves again. */
  onReady(daemon: Daemon): Promise<void>;
  log: Log;
}

/** The daemon of this process: one after the other, if it hands over and is a standby in between. */
export interface Life {
  /** The latest. */
  daemon(): Promise<Daemon>;
  /** Starts a daemon in place of one that has been stopped. */
  again(): Promise<Daemon>;
  /** False while this process waits as a standby, or hands over to one. */
  isServing(): boolean;
  /** Hands over, if it serves and a standby is there. */
  drain(): void;
  /** What becomes of the process when the daemon cannot go on. */
  follow(following: Following): Promise<void>;
}

export function beginLife({ start, standby }: LifeDeps): Life {
  let over = Promise.withResolvers<DaemonEnd>();
  let serving: Daemon | undefined;
  let mayEnd: object | undefined;
  /** Each daemon ends once: what it says afterwards, such as of a second signal, is not about the one after it. */
  const onOverOf = (one: object) => (why: DaemonEnd) => {
    if (mayEnd !== one) return;
    mayEnd = undefined;
    over.resolve(why);
  };
  const begin = (former?: Daemon): Promise<Daemon> => {
    const handedOver = former?.shared?.epoch;
    const one = {};
    mayEnd = one;
    const starting = start({
      onOver: onOverOf(one),
      ...(former && { port: former.port }),
      ...(standby && { standby: { ...standby, ...(handedOver !== undefined && { handedOver }) } }),
    });
    return starting.then((daemon) => {
      serving = daemon;
      return daemon;
    });
  };
  let latest = begin();
  return {
    daemon: () => latest,
    again() {
      serving = undefined;
      latest = latest.then(begin);
      return latest;
    },
    isServing: () => serving !== undefined,
    drain: () => void serving?.shared?.drain(),
    async follow({ end, onReady, log }) {
      for (;;) {
        const why = await over.promise;
        over = Promise.withResolvers();
        if (why !== 'drained') {
          log.error({}, FINAL[why]);
          return end(FINAL[why], EXIT.failed);
        }
        if (standby === undefined) return end('another daemon takes over', EXIT.ok);
        log.info({}, 'handing over to a standby');
        serving = undefined;
        latest = latest.then(async (former) => {
          await former.shutdown('another daemon takes over');
          return begin(former);
        });
        const next = await latest.catch((err: unknown) => {
          if (standby.signal.aborted) return undefined; // a signal ends the process
          log.error({ err }, FAILED);
          end(FAILED, EXIT.failed);
          return undefined;
        });
        if (next === undefined) return;
        await onReady(next);
      }
    },
  };
}

const FAILED = 'This daemon could not become active again. It ends; start it again to make it a standby.';
const FINAL: Record<Exclude<DaemonEnd, 'drained'>, string> = {
  replaced:
    'Another daemon has taken over, because this one did not renew its lease in time. It ends; start it again to make it a standby.',
  forgotten:
    'The database lacks changes that it had confirmed, as after a replica without them took over. This daemon ends; start it again, and it reads everything anew.',
};
