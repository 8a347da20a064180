import { GatewayError } from '../../../../protocol/errors.ts';
import { isMethodName } from '../../../../protocol/index.ts';
import type { Dispatch } from '../../dispatch.ts';
import { Elsewhere } from '../elsewhere.ts';
import type { Asked } from '../links/link.ts';
import { unknownQuestion } from '../links/protocol-version.ts';
import { leaveRecord, wasRecorded } from './audited-elsewhere.ts';
import { type CarriedAnswer, type Followed, readCaller, type WrittenCall } from './carried-call.ts';

/** Answers a call that another daemon forwards, for its caller. */
export async function serveCall(call: WrittenCall, asked: Asked, dispatch: Dispatch): Promise<CarriedAnswer> {
  if (!isMethodName(call.method)) throw unknownQuestion(call.method);
  const followed: Followed[] = [];
  const caller = readCaller(call.caller, asked, followed);
  leaveRecord(caller, call.method);
  const result = await Promise.resolve(dispatch(call.method, call.params, caller)).catch(asThrown);
  return { result, followed, isRecorded: wasRecorded(caller) };
}

/** The daemon that forwards the call looks where the workstream is now. */
function asThrown(error: unknown): never {
  throw error instanceof GatewayError && error.cause instanceof Elsewhere ? error.cause : error;
}
