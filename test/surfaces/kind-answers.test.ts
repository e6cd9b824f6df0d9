// What kinds answer on the embedded database.
import { testKindAnswers } from '../support/kind-answers.ts';

testKindAnswers('sqlite');
