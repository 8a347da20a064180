import type { RunJudge } from '../../agent/run/run-context.ts';
import type { LiveSettings } from '../live-settings.ts';

interface JudgeDeps {
  live: Pick<LiveSettings, 'judge'>;
  /** The home of the user that commands run as; undefined if it is unknown. */
  userHome: string | undefined;
}

/** Rates the calls of runs that need approval. */
export class Judge {
  readonly #deps: JudgeDeps;

  constructor(deps: JudgeDeps) {
    this.#deps = deps;
  }

  /** Undefined while the judge is off. */
  forRun(): RunJudge | undefined {
    const { live, userHome } = this.#deps;
    return live.judge.enabled ? { home: userHome } : undefined;
  }
}
