//! Holds the tests of the errors that the compiler reports for wrong uses of anabranch and its macros.
