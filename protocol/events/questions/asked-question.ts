import { z } from 'zod';

/** A question of the agent. */
export const AskedQuestion = z.object({
  text: z.string(),
  /** Answers that the agent expects; any other text is an answer, too. */
  choices: z.array(z.object({ label: z.string(), description: z.string().optional() })),
});
export type AskedQuestion = z.infer<typeof AskedQuestion>;
