import { z } from 'zod';

/** How much a finding of the output guard matters. */
export const OUTPUT_RISKS = ['low', 'medium', 'high'] as const;
/** One of OUTPUT_RISKS. */
export const OutputRisk = z.enum(OUTPUT_RISKS).meta({ id: 'OutputRisk' });

/** What the output guard found in the output of a call. */
export const outputWarningShape = {
  call_id: z.string(),
  func_name: z.string(),
  /** What was found, such as `credential_leak`; clients should accept further ones. */
  flags: z.array(z.string()).min(1),
  risk_level: OutputRisk,
  /** One sentence for each flag, for people. */
  annotations: z.array(z.string()),
  /** Characters of the output before secrets in it were replaced. */
  output_length: z.int().min(0),
  /** Whether secrets in the output were replaced by tags such as `[REDACTED:api_key]`. */
  redacted: z.boolean(),
};
