//! The JSON of one instruction: its operation's name and parameters, and beside them what every instruction has.

use serde::de::{DeserializeOwned, Error as _};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use super::operation::Integer;
use super::Instruction;

/// An instruction that nobody has checked yet.
pub struct Node(pub Instruction);

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let members = Map::deserialize(deserializer)?;
        instruction(members).map(Self).map_err(D::Error::custom)
    }
}

fn instruction(mut members: Map<String, Value>) -> Result<Instruction, String> {
    let [Integer(low), Integer(high)] = [member(&mut members, "low")?, member(&mut members, "high")?];
    Ok(Instruction {
        args: member(&mut members, "args")?,
        shape: member(&mut members, "shape")?,
        ring: member(&mut members, "ring")?,
        fraction: member(&mut members, "fraction")?,
        low,
        high,
        operation: read(Value::Object(members))?,
    })
}

/// A member that every instruction has.
fn member<T: DeserializeOwned>(members: &mut Map<String, Value>, name: &str) -> Result<T, String> {
    let value = members.remove(name).ok_or_else(|| format!("a node without {name:?}"))?;
    read(value).map_err(|error| format!("{name:?} of a node: {error}"))
}

fn read<T: DeserializeOwned>(value: Value) -> Result<T, String> {
    serde_json::from_value(value).map_err(|error| error.to_string())
}

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Instruction { operation, args, shape, ring, fraction, low, high } = &self.0;
        let mut members = match written::<S>(operation)? {
            Value::Object(members) => members,
            _ => return Err(S::Error::custom("an operation is an object")),
        };
        let common = [
            ("args", written::<S>(args)?),
            ("shape", written::<S>(shape)?),
            ("ring", written::<S>(ring)?),
            ("fraction", written::<S>(fraction)?),
            ("low", written::<S>(&Integer(*low))?),
            ("high", written::<S>(&Integer(*high))?),
        ];
        members.extend(common.map(|(name, value)| (name.to_owned(), value)));
        members.serialize(serializer)
    }
}

fn written<S: Serializer>(value: &impl Serialize) -> Result<Value, S::Error> {
    serde_json::to_value(value).map_err(S::Error::custom)
}
