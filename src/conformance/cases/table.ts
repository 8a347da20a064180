import type { ConformanceCase } from '../conformance-case.ts';
import { attachmentCases } from './attachments.ts';
import { callCases } from './calls.ts';
import { cronCases } from './cron.ts';
import { followingCases } from './following.ts';
import { frameCases } from './frames.ts';
import { handshakeCases } from './handshake.ts';
import { nodeCases } from './nodes.ts';

/** Every sentence of PROTOCOL.md that one or two sockets can observe, in the document's order of subjects. */
export const CASES: readonly ConformanceCase[] = [
  ...handshakeCases,
  ...frameCases,
  ...callCases,
  ...followingCases,
  ...nodeCases,
  ...cronCases,
  ...attachmentCases,
];
