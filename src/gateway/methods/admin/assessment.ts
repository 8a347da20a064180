import type { assessmentContracts } from '../../../../protocol/methods/admin/assessment.ts';
import { listAssessments } from '../../assessments/assessment-rows.ts';
import type { Handlers } from '../../call.ts';
import { viewerOf } from '../../sharing/perception.ts';
import type { Store } from '../../store/store.ts';

export const assessmentMethods = ({
  store,
}: {
  store: Pick<Store, 'db'>;
}): Handlers<keyof typeof assessmentContracts> => ({
  'assessment.list': ({ limit = USUAL_ASSESSMENTS, offset = 0, ...filter }, call) =>
    listAssessments(store.db, { ...filter, limit, offset, viewer: viewerOf(call) }),
});

const USUAL_ASSESSMENTS = 100;
