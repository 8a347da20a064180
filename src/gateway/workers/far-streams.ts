import type { Beginning, EventStreams, Opening, StreamRequest } from '../streams/event-streams.ts';
import { readViewer, type WrittenViewer, writeViewer } from './calls/carried-call.ts';
import type { Far } from './calls/forwarding.ts';
import { type Elsewhere, following } from './elsewhere.ts';
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
  open(wsId, request) {
    const here = () => streams.open(wsId, request);
    const there = async (machine: string, elsewhere: Elsewhere): Promise<Opening> => {
      const link = linkTo(machine);
      if (link === undefined) throw refusal(elsewhere);
      const since = endings();
      const opening: WrittenOpening = { wsId, request: { ...request, viewer: writeViewer(request.viewer) } };
      const stream: WrittenStream = await link.ask('stream', opening); // by `serveStream`
      const { connected, frames, after } = stream;
      await openLogs(machine, [wsId]);
      return { connected, since, begin: async () => ({ frames, after }) };
    };
    return here().catch((error: unknown) => following(error, { here, there }));
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
