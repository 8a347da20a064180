import { z } from 'zod';
import { MachineLabels } from '../../cluster/machine-labels.ts';
import { contract } from '../../contract.ts';
import { MODES } from '../../events/modes.ts';
import { NonEmpty, optionalKey, optionalText } from '../../frames.ts';
import { ALLOWING_NEW } from './allowing.ts';
import { WORKSTREAM_KINDS } from './kinds.ts';
import { VISIBILITIES } from './sharing.ts';

const Count = z.int().min(0);

/** Makes workstreams. */
export const creationContracts = {
  'workstream.create': contract({
    summary: 'Create a workstream, or reopen a stored one with resumeWs.',
    scope: 'write',
    permission: 'workstreams.create',
    weight: 3,
    ...ALLOWING_NEW,
    params: () =>
      z
        .strictObject({
          name: optionalText(128),
          model: optionalText(256),
          autoApprove: z.boolean().optional(),
          /** Default: `ask`. The modes `edits`, `auto` and `full` need what autoApprove needs. */
          mode: z.enum(MODES).optional(),
          resumeWs: optionalText(128),
          /** Default: the setting `workstreams.visibility`; `shared` for callers who are no users. Ignored with `resumeWs`. */
          visibility: z.enum(VISIBILITIES).optional(),
          workdir: optionalText(4096),
          /** The name of a prompt template. Ignored with `resumeWs`. */
          template: optionalText(256),
          /** The name of a workstream template. Its model and its prompt win over the others. */
          wsTemplate: optionalText(256),
          /** A name of `skill.list`. */
          skill: optionalText(256),
          /** The id of the new workstream: 32 hexadecimal digits that no workstream has or had. */
          wsId: optionalText(32),
          /** Sent once the workstream is there; without it, nothing is created if it is refused. */
          initialMessage: optionalText(),
          /** Tools whose calls run without asking, with the limits of autoApprove. */
          autoApproveTools: z.array(z.string().min(1).max(128)).max(64).optional(),
          /** `coordinator`, and a parent, need the approve scope and the permission `admin.coordinator`. */
          kind: z.enum(WORKSTREAM_KINDS).optional(),
          /** The coordinator that it works for. Ignored with `resumeWs`, like `kind`. */
          parentWsId: optionalText(128),
          /** Stored; nothing is judged yet. */
          judgeModel: optionalText(256),
          /** The machine that runs it: the active one, or a worker. Default: the one with the fewest workstreams. Ignored with `resumeWs`. */
          nodeId: optionalText(256),
          /** Labels that its machine needs, at each time. Ignored with `resumeWs`. */
          machineLabels: MachineLabels.optional(),
          /** Files that were sent with the request, which is possible only over HTTP. */
          fileIds: z.array(z.string().max(128)).max(10).optional(),
          idempotencyKey: optionalKey(),
        })
        .meta({ id: 'WorkstreamCreateParams' }),
    result: () =>
      z
        .strictObject({
          wsId: NonEmpty,
          name: NonEmpty,
          resumed: z.boolean(),
          messageCount: Count,
          /** The first message; `queued` if it waits in a resumed workstream. */
          initialMessage: z.strictObject({ status: z.enum(['ok', 'queued']), runId: z.string() }).optional(),
          /** The files of the request, in its order; absent if there were none. */
          attachmentIds: z.array(z.string()).optional(),
          /** The worker that runs it; absent: the active machine does. */
          nodeId: NonEmpty.optional(),
        })
        .meta({ id: 'WorkstreamCreateResult' }),
    idempotency: 'optional',
  }),
};
