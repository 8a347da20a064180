import type { Beginning, EventStreams, Opening, StreamRequest } from '../streams/event-streams.ts';
import { readViewer, type WrittenViewer, writeViewer } from './carried-call.ts';
import { Elsewhere, leftMeanwhile } from './elsewhere.ts';
import type { Far } from './forwarding.ts';
import type { Asked } from './links/link.ts';

/** A request for a stream, as it travels to the machine that has the workstream. */
export interface WrittenOpening {
  wsId: string;
  request: Omit<StreamRequest, 'viewer'> & { viewer: WrittenViewer };
}

interface WrittenStream extends Beginning {
  connected: string;
}

/** Event streams of the workstreams of all machines: each begins where the workstream is, and follows its log here. */
export const farStreams = (streams: EventStreams, { linkTo, refusal, openLogs, endings }: Far): EventStreams => ({
  async open(wsId, request) {
    try {
      return await streams.open(wsId, request);
    } catch (error) {
      if (!(error instanceof Elsewhere) || error.machine === null) throw error;
      const link = linkTo(error.machine);
      if (link === undefined) throw refusal(error);
      const since = endings();
      const opening: WrittenOpening = { wsId, request: { ...request, viewer: writeViewer(request.viewer) } };
      const stream: WrittenStream = await link.ask('stream', opening).catch(leftMeanwhile(error.machine)); // by `serveStream`
      const { connected, frames, after } = stream;
      await openLogs(error.machine, [wsId]);
      return { connected, since, begin: async () => ({ frames, after }) } satisfies Opening;
    }
  },
  follow: streams.follow.bind(streams),
  states: streams.states.bind(streams),
  onChange: streams.onChange.bind(streams),
});

export async function serveStream(
  { wsId, request }: WrittenOpening,
  { signal }: Asked,
  streams: Pick<EventStreams, 'open'>,
): Promise<WrittenStream> {
  const { connected, begin } = await streams.open(wsId, { ...request, viewer: readViewer(request.viewer) });
  return { connected, ...(await begin(signal)) };
}
