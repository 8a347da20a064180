// `headgate/client`: the WebSocket client, for Node and browsers.

export type { HelloOk } from '../../connect.ts';
export type { ErrorCode } from '../../errors.ts';
export type { GatewayEventName, GatewayEventPayload } from '../../events/gateway.ts';
export type { ParamsInput, Result } from '../../index.ts';
export type { WorkstreamSnapshot } from '../../methods/workstream.ts';
export type { StreamEvent } from '../../stream-events.ts';
export type { CallOptions } from '../pending-calls.ts';
export { ConnectionLostError, NotConnectedError, RequestError } from '../request-error.ts';
export type { SocketConstructor } from '../socket.ts';
export type { Subscription, SubscriptionOptions } from '../subscriptions.ts';
export {
  type CallableMethod,
  type ConnectionStatus,
  createGatewayClient,
  type GatewayClient,
  type GatewayClientOptions,
} from '../ws-client.ts';
