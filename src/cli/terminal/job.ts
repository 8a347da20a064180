import process from 'node:process';

/** This program as a job of a shell, which Ctrl-Z stops and `fg` continues. */
export interface Job {
  /** Returns when the job goes on; at once if no shell could continue it. */
  stop(): void;
  /** Also when another program has stopped it. Returns what ends the listening. */
  onContinue(listener: () => void): () => void;
}

export const shellJob: Job = {
  stop: () => void process.kill(0, 'SIGTSTP'), // the whole job, as the terminal would
  onContinue(listener) {
    process.on('SIGCONT', listener);
    return () => process.off('SIGCONT', listener);
  },
};
