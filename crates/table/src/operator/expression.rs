//! Expressions over the columns of one table.

use serde::{Deserialize, Serialize};

use super::integer::integer;
use super::kind::{Encoding, Kind};

/// A value computed for every row.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "ExpressionJson", into = "ExpressionJson")]
pub enum Expression {
    /// A column of the input.
    Column(String),
    /// An integer constant (BOOLEAN: 0 or 1).
    Integer {
        /// Its decimal digits.
        digits: String,
        /// Its two's complement, `kind.width` bits, least significant first.
        bits: Vec<bool>,
        /// Its kind.
        kind: Kind,
    },
    /// A string constant.
    Text {
        /// The string.
        text: String,
        /// How it is encoded: as the column it meets.
        encoding: Encoding,
        /// Its kind.
        kind: Kind,
    },
    /// NULL of a kind.
    Null(Kind),
    /// A function of other expressions.
    Call(Call),
}

/// A function applied to expressions.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    /// The function.
    pub function: Function,
    /// Its arguments, as many as it takes.
    pub arguments: Vec<Expression>,
    /// The constant of functions that take one ([`Function::takes_constant`]), otherwise 1.
    pub by: i128,
    /// The kind of the result.
    pub kind: Kind,
}

/// The functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Function {
    /// Sum of two numbers.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Negative.
    Neg,
    /// Product with a public constant.
    Scale,
    /// Quotient of two numbers, rounded towards zero; NULL where the second is 0.
    Quotient,
    /// What the quotient leaves, with the sign of the first number; NULL where the second is 0.
    Remainder,
    /// Quotient by a positive public constant, rounded down.
    Floor,
    /// Quotient by a positive public constant, rounded up.
    Ceil,
    /// Quotient by a positive public constant, rounded to the nearest number, and from the middle away from zero.
    Round,
    /// Equality.
    Eq,
    /// Inequality.
    Ne,
    /// Less than.
    Lt,
    /// At most.
    Le,
    /// Greater than.
    Gt,
    /// At least.
    Ge,
    /// Conjunction of one or more truth values, three-valued.
    And,
    /// Disjunction of one or more truth values, three-valued.
    Or,
    /// Negation, three-valued.
    Not,
    /// Whether the argument is NULL.
    IsNull,
    /// (condition, then, else); a NULL condition takes else.
    If,
    /// The same value in another representation.
    Convert,
}

impl Function {
    /// Whether it takes a public constant.
    pub fn takes_constant(self) -> bool {
        self == Self::Scale || self.rounds()
    }

    /// Whether it is a rounded quotient by a public constant.
    pub fn rounds(self) -> bool {
        matches!(self, Self::Floor | Self::Ceil | Self::Round)
    }

    /// How many arguments it takes, at least and at most.
    fn arity(self) -> (usize, usize) {
        match self {
            Self::Neg | Self::Scale | Self::Not | Self::IsNull | Self::Convert => (1, 1),
            Self::Floor | Self::Ceil | Self::Round => (1, 1),
            Self::Add | Self::Sub | Self::Mul | Self::Quotient | Self::Remainder => (2, 2),
            Self::Eq | Self::Ne | Self::Lt | Self::Le | Self::Gt | Self::Ge => (2, 2),
            Self::If => (3, 3),
            Self::And | Self::Or => (1, usize::MAX),
        }
    }
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpressionJson {
    #[serde(skip_serializing_if = "Option::is_none")]
    col: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    int: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    encode: Option<Encoding>,
    #[serde(skip_serializing_if = "Option::is_none")]
    null: Option<Kind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    op: Option<Function>,
    #[serde(skip_serializing_if = "Option::is_none")]
    args: Option<Vec<Expression>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<Kind>,
}

impl From<Expression> for ExpressionJson {
    fn from(expression: Expression) -> Self {
        let none = Self::default();
        match expression {
            Expression::Column(name) => Self { col: Some(name), ..none },
            Expression::Integer { digits, kind, .. } => Self { int: Some(digits), kind: Some(kind), ..none },
            Expression::Text { text, encoding, kind } => {
                Self { text: Some(text), encode: Some(encoding), kind: Some(kind), ..none }
            }
            Expression::Null(kind) => Self { null: Some(kind), ..none },
            Expression::Call(Call { function, arguments, by, kind }) => {
                let by = function.takes_constant().then(|| by.to_string());
                Self { op: Some(function), args: Some(arguments), by, kind: Some(kind), ..none }
            }
        }
    }
}

impl TryFrom<ExpressionJson> for Expression {
    type Error = String;

    fn try_from(json: ExpressionJson) -> Result<Self, String> {
        match json {
            ExpressionJson {
                col: Some(name),
                int: None,
                text: None,
                encode: None,
                null: None,
                op: None,
                args: None,
                by: None,
                kind: None,
            } => Ok(Self::Column(name)),
            ExpressionJson {
                int: Some(value),
                kind: Some(kind),
                col: None,
                text: None,
                encode: None,
                null: None,
                op: None,
                args: None,
                by: None,
            } => Ok(Self::Integer { bits: integer(&value, kind)?, digits: value, kind }),
            ExpressionJson {
                text: Some(text),
                encode: Some(encoding),
                kind: Some(kind),
                col: None,
                int: None,
                null: None,
                op: None,
                args: None,
                by: None,
            } => Ok(Self::Text { text, encoding, kind }),
            ExpressionJson {
                null: Some(kind),
                col: None,
                int: None,
                text: None,
                encode: None,
                op: None,
                args: None,
                by: None,
                kind: None,
            } => Ok(Self::Null(Kind { nullable: true, ..kind })),
            ExpressionJson {
                op: Some(function),
                args: Some(arguments),
                kind: Some(kind),
                by,
                col: None,
                int: None,
                text: None,
                encode: None,
                null: None,
            } => Ok(Self::Call(call(function, arguments, by, kind)?)),
            _ => {
                Err("an expression is one of col; int and kind; text, encode and kind; null; op, args and kind".into())
            }
        }
    }
}

fn call(function: Function, arguments: Vec<Expression>, by: Option<String>, kind: Kind) -> Result<Call, String> {
    let (least, most) = function.arity();
    if !(least..=most).contains(&arguments.len()) {
        return Err(format!("{function:?} of {} arguments", arguments.len()));
    }
    if by.is_some() != function.takes_constant() {
        return Err("\"by\" belongs to \"scale\", \"floor\", \"ceil\" and \"round\", and to nothing else".into());
    }
    let arguments = match function {
        Function::And | Function::Or => arguments.into_iter().flat_map(|part| spliced(function, part)).collect(),
        _ => arguments,
    };
    let by = by.map_or(Ok(1), |by| by.parse().map_err(|_| format!("{by:?} is not an integer constant")))?;
    if function.rounds() && by < 1 {
        return Err(format!("{function:?} by {by}, which is no positive number"));
    }
    Ok(Call { function, arguments, by, kind })
}

/// The arguments of a nested call of the same connective, which then cost no rounds of their own.
fn spliced(function: Function, argument: Expression) -> Vec<Expression> {
    match argument {
        Expression::Call(call) if call.function == function => call.arguments,
        other => vec![other],
    }
}
