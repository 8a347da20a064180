import { get } from 'node:http';
import { clearInterval, setInterval } from 'node:timers';

export interface HealthPolls {
  /** Ends the polls. Each has its own connection. */
  stop(): Promise<{
    answered: number;
    /** Codes of the failed ones. */
    failures: string[];
    /** The longest time between two answers. */
    gapMs: number;
  }>;
}

/** Asks for `/health` every 20 ms, until it is stopped. A slow answer delays no other poll. */
export function pollHealth(url: string): HealthPolls {
  const failures: string[] = [];
  const answers: number[] = [performance.now()];
  const open = new Set<Promise<void>>();
  const poll = () => {
    const done = new Promise<void>((resolve) => {
      const request = get(`${url}/health`, { agent: false }, (response) => {
        if (response.statusCode === 200) answers.push(performance.now());
        else failures.push(String(response.statusCode));
        response.resume().on('close', resolve);
      });
      request.on('error', (error: NodeJS.ErrnoException) => {
        failures.push(error.code ?? error.message);
        resolve();
      });
    });
    open.add(done);
    void done.then(() => open.delete(done));
  };
  const timer = setInterval(poll, 20);
  return {
    async stop() {
      clearInterval(timer);
      await Promise.all(open);
      const gaps = answers.slice(1).map((at, n) => at - (answers[n] ?? at));
      return { answered: answers.length - 1, failures, gapMs: Math.max(...gaps) };
    },
  };
}
