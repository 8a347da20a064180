import { z } from 'zod';

/** A summary that the model reads in place of the messages up to `to_seq`. */
export const summaryShape = {
  to_seq: z.int().min(1),
  /** How many messages it replaces, without earlier summaries. */
  messages: z.int().min(0),
  summary: z.string(),
};

/** The same as an event. */
export const compactedShape = {
  ...summaryShape,
  /** What the model reads before and after it, estimated; absent in events of earlier versions. */
  before_tokens: z.int().min(0).optional(),
  after_tokens: z.int().min(0).optional(),
};
