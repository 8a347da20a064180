import { GatewayError } from '../../../protocol/errors.ts';

/** Whether a text can be the id of a machine: a host name, and four digits of its home. Never a dot segment. */
export const isNodeId = (text: string): boolean => /^[A-Za-z0-9][A-Za-z0-9._-]{0,254}$/.test(text);

export const invalidNode = () => new GatewayError('INVALID_REQUEST', 'Invalid node ID');
/** `activeId`: the machine that serves workstreams. */
export const idleNode = (activeId: string) =>
  new GatewayError('CONFLICT', `This machine is a standby and serves no workstreams. Name ${activeId}, or no machine.`);
export const unknownNode = () => new GatewayError('NOT_FOUND', 'Node not found');
/** `cause`: why it could not be asked. */
export const unreachableNode = (cause?: unknown) => new GatewayError('UPSTREAM_FAILED', 'Node unreachable', { cause });
