/** Primary key (run_id, model, day). */
export interface UsageTable {
  run_id: string;
  /** `provider/model`. */
  model: string;
  /** In UTC, such as 2026-01-31. */
  day: string;
  ws_id: string;
  principal: string;
  /** Answered model turns. */
  turns: number;
  /** Tokens; `input` includes cached ones, `output` includes reasoning. */
  input: number;
  cache_read: number;
  cache_write: number;
  output: number;
  reasoning: number;
  /** Millionths of a US dollar. */
  micro_cost: number;
  /** Tokens without a price. */
  unpriced: number;
}
