import { assessmentEndpoints } from '../../../../protocol/http/admin/assessment.ts';
import { bind } from '../../bind.ts';
import { iso } from '../../iso.ts';
import { RECORD_FIELDS, toRecordParams } from './record-params.ts';

export const assessmentRoutes = [
  bind(assessmentEndpoints.list, 'assessment.list', {
    params: toRecordParams,
    fieldNames: RECORD_FIELDS,
    reply: ({ assessments, total }) => ({
      assessments: assessments.map((assessment) => ({
        assessment_id: assessment.assessmentId,
        ws_id: assessment.wsId,
        call_id: assessment.callId,
        func_name: assessment.tool,
        flags: JSON.stringify(assessment.flags),
        risk_level: assessment.riskLevel,
        annotations: JSON.stringify(assessment.annotations),
        output_length: assessment.outputLength,
        redacted: assessment.redacted ? (1 as const) : (0 as const),
        created: iso(assessment.createdAtMs),
      })),
      total,
    }),
  }),
];
