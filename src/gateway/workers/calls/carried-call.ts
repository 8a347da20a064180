import type { Scope } from '../../../../protocol/contract.ts';
import type { Permission } from '../../../../protocol/methods/accounts/permissions.ts';
import type { Principal } from '../../auth/principal.ts';
import type { Caller } from '../../call.ts';
import { toWatched, type Viewer, type Watched } from '../../sharing/perception.ts';
import type { Asked } from '../links/link.ts';

/** A call as it travels to the machine that has its workstream. That machine checks the rights of the caller again. */
export interface WrittenCall {
  method: string;
  params: unknown;
  caller: WrittenCaller;
}

interface WrittenCaller extends Pick<Caller, 'address' | 'requestId' | 'connId' | 'frameId' | 'traceparent'> {
  principal?: WrittenPrincipal;
}

/** A principal that another daemon has recognized. */
export type WrittenPrincipal = Omit<Principal, 'scopes' | 'permissions' | 'ended'> & {
  scopes: Scope[];
  permissions: Permission[];
};

/** The answer to a call, and the logs that its connection follows from now on. */
export interface CarriedAnswer {
  result: unknown;
  followed: Followed[];
  /** The handler has recorded the call in the audit trail. */
  isRecorded: boolean;
}

export interface Followed {
  about: Watched;
  offset: number;
}

export const writeCaller = ({
  principal,
  address,
  requestId,
  connId,
  frameId,
  traceparent,
}: Caller): WrittenCaller => ({
  address,
  ...(principal && { principal: writePrincipal(principal) }),
  ...(requestId !== undefined && { requestId }),
  ...(connId !== undefined && { connId }),
  ...(frameId !== undefined && { frameId }),
  ...(traceparent !== undefined && { traceparent }),
});

export const writePrincipal = ({
  ended: _,
  scopes,
  permissions,
  source,
  ...principal
}: Principal): WrittenPrincipal => ({
  ...principal,
  source:
    source.kind === 'login' ? { ...source, proof: { atMs: source.proof.atMs, isFresh: source.proof.isFresh } } : source,
  scopes: [...scopes],
  permissions: [...permissions],
});

/** Its end is noticed where the caller is connected. */
export const readPrincipal = ({ scopes, permissions, ...principal }: WrittenPrincipal): Principal => ({
  ...principal,
  scopes: new Set(scopes),
  permissions: new Set(permissions),
  ended: NEVER,
});

const NEVER = new AbortController().signal;

/** Somebody for whom another daemon asks. */
export interface WrittenViewer {
  userId?: string;
  permissions: Permission[];
}

export const writeViewer = ({ userId, permissions }: Viewer): WrittenViewer => ({
  permissions: [...permissions],
  ...(userId !== undefined && { userId }),
});

export const readViewer = ({ userId, permissions }: WrittenViewer): Viewer => ({
  permissions: new Set(permissions),
  ...(userId !== undefined && { userId }),
});

/** The caller of a call, whose connection is at another daemon. `followed` gets what it follows. */
export const readCaller = (
  { principal, ...caller }: WrittenCaller,
  { signal, interim }: Asked,
  followed: Followed[],
): Caller => ({
  ...caller,
  principal: principal && readPrincipal(principal),
  signal,
  interim,
  subscriptions: {
    add: (about, offset) => void followed.push({ about: toWatched(about), offset }),
    remove: () => false,
  },
});
