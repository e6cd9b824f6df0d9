// What kinds answer on PostgreSQL.
import { testKindAnswers } from '../support/kind-answers.ts';

testKindAnswers('postgres');
