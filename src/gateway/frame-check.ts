import type { z } from 'zod';

/** Holds some of what is sent against its own row: clients drop what does not fit, and nobody would hear of it. */
export interface FrameCheck {
  /** Whether this one is to be looked at; counts. */
  isDue(): boolean;
  /** Reports what does not fit, and lets it go all the same. */
  inspect(what: string, row: z.ZodType, value: unknown): void;
}

interface FrameCheckOptions {
  /** One of how many; 1 in tests. */
  every?: number | undefined;
  onInvalid(what: string, problem: z.ZodError): void;
}

export function createFrameCheck({ every = 64, onInvalid }: FrameCheckOptions): FrameCheck {
  let counted = 0;
  return {
    isDue() {
      counted += 1;
      return counted % every === 0;
    },
    inspect(what, row, value) {
      const parsed = row.safeParse(value);
      if (!parsed.success) onInvalid(what, parsed.error);
    },
  };
}
