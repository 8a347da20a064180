import type { ConformanceCase } from '../conformance-case.ts';
import { callCases } from './calls.ts';
import { followingCases } from './following.ts';
import { frameCases } from './frames.ts';
import { handshakeCases } from './handshake.ts';

/** Every sentence of PROTOCOL.md that one or two sockets can see, in its order of subjects. */
export const CASES: readonly ConformanceCase[] = [...handshakeCases, ...frameCases, ...callCases, ...followingCases];
